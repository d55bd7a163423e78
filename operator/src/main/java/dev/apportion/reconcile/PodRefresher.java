package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Annotates CoreDNS' pods after a write, so that the kubelet refreshes their mounts at once and not at its next round, up
 * to a minute later.
 */
final class PodRefresher {

    private static final Logger LOG = LoggerFactory.getLogger(PodRefresher.class);
    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    /** The first pause after a failure; it doubles. Later than the kubelet's own round there is no point in it. */
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

    private static final int TRIES = 6;

    private final KubernetesClient client;
    private final RetryAfter retryAfter;

    /** What each pod was last to be annotated with. */
    private final Map<Ref, String> latest = new ConcurrentHashMap<>();

    PodRefresher(KubernetesClient client, RetryAfter retryAfter) {
        this.client = ClusterClient.writing(client);
        this.retryAfter = retryAfter;
    }

    /**
     * Annotates pods, side by side and without waiting: what is published does not depend on it.
     *
     * @param serial a text that differs from write to write, with the characters of names only
     */
    void refresh(String namespace, Set<String> pods, String serial) {
        for (String name : pods) {
            Ref pod = new Ref(namespace, name);
            latest.put(pod, serial);
            Thread.ofVirtual().name("refresh " + pod).start(() -> {
                annotate(pod, serial);
                latest.remove(pod, serial);
            });
        }
    }

    /** Tries until it is done, or overtaken by a later write. */
    private void annotate(Ref pod, String serial) {
        RetryAfter.Call call = RetryAfter.Call.patch(pod.namespace(), "pods", pod.name());
        Duration pause = FIRST_PAUSE;
        for (int i = 1; serial.equals(latest.get(pod)); i++) {
            try {
                Thread.sleep(retryAfter.left(call).orElse(Duration.ZERO));
                // Not by its name alone: the pod would be read first.
                client.resource(named(pod))
                        .patch(
                                MERGE,
                                "{\"metadata\":{\"annotations\":{\"apportion.dev/serial\":\"%s\"}}}".formatted(serial));
                return;
            } catch (KubernetesClientException e) {
                retryAfter.refused(call, e);
                if (i == TRIES || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                    LOG.atWarn()
                            .addKeyValue("pod", pod)
                            .addKeyValue("error", e.getMessage())
                            .log("Could not annotate a DNS pod; it will see the change up to a minute later");
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                return;
            }
            pause = pause.multipliedBy(2);
        }
    }

    private static Pod named(Ref pod) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(pod.namespace())
                .withName(pod.name())
                .endMetadata()
                .build();
    }
}
