package dev.apportion.e2e;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** When the pods of a namespace were told to end, by address, in nanoseconds of the monotonic clock. */
final class PodDeaths implements AutoCloseable {

    private final Map<String, Long> deaths = new ConcurrentHashMap<>();
    private final SharedIndexInformer<Pod> informer;

    private PodDeaths(KubernetesClient client) {
        informer = client.pods().inform(new ResourceEventHandler<>() {
            @Override
            public void onAdd(Pod pod) {
                look(pod, false);
            }

            @Override
            public void onUpdate(Pod before, Pod pod) {
                look(pod, false);
            }

            @Override
            public void onDelete(Pod pod, boolean finalStateUnknown) {
                look(pod, true);
            }
        });
    }

    static PodDeaths watch(KubernetesClient client) {
        return new PodDeaths(client);
    }

    private void look(Pod pod, boolean gone) {
        String address = pod.getStatus().getPodIP();
        if (address != null && (gone || pod.getMetadata().getDeletionTimestamp() != null)) {
            deaths.putIfAbsent(address, System.nanoTime());
        }
    }

    OptionalLong of(String address) {
        Long death = deaths.get(address);
        return death == null ? OptionalLong.empty() : OptionalLong.of(death);
    }

    int count() {
        return deaths.size();
    }

    @Override
    public void close() {
        informer.close();
    }
}
