package dev.apportion.reconcile;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Annotates CoreDNS' pods after a write, so that the kubelet refreshes their mounts at once and not at its next round, up
 * to a minute later.
 */
final class PodRefresher {

    private static final Logger LOG = LoggerFactory.getLogger(PodRefresher.class);
    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private final KubernetesClient client;

    PodRefresher(KubernetesClient client) {
        this.client = client;
    }

    /**
     * Annotates pods, side by side and without waiting: what is published does not depend on it.
     *
     * @param serial a text that differs from write to write, with the characters of names only
     */
    void refresh(String namespace, Set<String> pods, String serial) {
        for (String pod : pods) {
            Thread.ofVirtual().name("refresh " + pod).start(() -> annotate(namespace, pod, serial));
        }
    }

    private void annotate(String namespace, String pod, String serial) {
        try {
            // The client reads what it patches by name first, which takes a right more.
            client.resource(new PodBuilder()
                            .withNewMetadata()
                            .withNamespace(namespace)
                            .withName(pod)
                            .endMetadata()
                            .build())
                    .patch(
                            MERGE,
                            "{\"metadata\":{\"annotations\":{\"apportion.dev/serial\":\"%s\"}}}".formatted(serial));
        } catch (KubernetesClientException e) {
            LOG.atWarn()
                    .addKeyValue("pod", namespace + "/" + pod)
                    .addKeyValue("error", e.getMessage())
                    .log("Could not annotate a DNS pod; it will see the change up to a minute later");
        }
    }
}
