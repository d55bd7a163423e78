package dev.apportion.reconcile;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.NamespacedKubernetesClient;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import java.time.Clock;
import java.time.Duration;
import java.util.function.Function;

/** The connection to the API server, as the operator needs it. */
public final class ClusterClient {

    /** How many times as long as for the head of an answer is waited for all of it: lists may be large. */
    private static final int WHOLE_ANSWER = 3;

    private ClusterClient() {}

    /** Connects within the cluster, or as the current context of the kubeconfig says. */
    public static KubernetesClient open(Clock clock) {
        Config config = Config.autoConfigure(null);
        Duration timeout = Duration.ofMillis(config.getRequestTimeout());
        RetryAfter retryAfter = new RetryAfter(clock, System::nanoTime, timeout);
        BodyTimeout bodyTimeout = new BodyTimeout(timeout.multipliedBy(WHOLE_ANSWER));
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withKubernetesSerialization(Vocabulary.serialization())
                .withHttpClientBuilderConsumer(
                        http -> http.addOrReplaceInterceptor(RetryAfter.class.getName(), retryAfter)
                                .addOrReplaceInterceptor(BodyTimeout.class.getName(), bodyTimeout)
                                .tag(retryAfter))
                .build();
    }

    /**
     * The same connection for what changes something: each request is sent once. Sent again unseen, it would be an old plan by
     * then, and a request that was done while its answer got lost would look like another writer's.
     */
    static KubernetesClient writing(KubernetesClient client) {
        return client.adapt(NamespacedKubernetesClient.class)
                .withRequestConfig(
                        new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                                .withRequestRetryBackoffLimit(0)
                                .build())
                .call(Function.<KubernetesClient>identity()::apply);
    }
}
