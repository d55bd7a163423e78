package dev.apportion.reconcile;

import dev.apportion.dns.externaldns.DnsEndpoint;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The DNSEndpoints that this operator has written, cached. Their kind is ExternalDNS's, and may not be there, or come and go: it
 * is looked for from time to time, and nothing is watched while it is not there.
 */
final class EndpointStore implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EndpointStore.class);

    /** How often it is looked whether the kind is there: one small request. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    /** What is known of the DNSEndpoints. */
    sealed interface Knowledge {

        /** Those that are in the cache are all there are. */
        record Whole() implements Knowledge {}

        /** They are being read. */
        record Reading() implements Knowledge {}

        /** They cannot be read, for a reason that is for people. */
        record Pending(String reason) implements Knowledge {}

        /** The cluster has no such kind. */
        record NoKind() implements Knowledge {}
    }

    private final KubernetesClient client;
    private final Set<String> namespaces;
    private final Consumer<GenericKubernetesResource> changed;
    private final Runnable learned;
    private final ScheduledExecutorService looking = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dns-endpoints").factory());
    private final Map<Ref, GenericKubernetesResource> ahead = new ConcurrentHashMap<>();
    private volatile List<SharedIndexInformer<GenericKubernetesResource>> informers = List.of();
    private volatile Knowledge knowledge = new Knowledge.Reading();
    private boolean started;

    /**
     * A store that knows nothing yet, and asks for nothing before {@link #follow}.
     *
     * @param namespaces the namespaces to look into; empty for all
     * @param changed told of each DNSEndpoint that changed
     * @param learned told when something else is known of all of them
     */
    EndpointStore(
            KubernetesClient client,
            Set<String> namespaces,
            Consumer<GenericKubernetesResource> changed,
            Runnable learned) {
        this.client = client;
        this.namespaces = Set.copyOf(namespaces);
        this.changed = changed;
        this.learned = learned;
    }

    /** Looks for the kind and follows it from now on. */
    synchronized void follow() {
        if (!started && !looking.isShutdown()) {
            started = true;
            var _ = looking.scheduleWithFixedDelay(this::look, 0, LOOK.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    Knowledge knowledge() {
        return knowledge;
    }

    private void look() {
        boolean following = !informers.isEmpty();
        try {
            APIResourceList served = client.getApiResources(DnsEndpoint.API_VERSION);
            boolean there = served != null
                    && served.getResources().stream()
                            .anyMatch(resource -> resource.getKind().equals(DnsEndpoint.KIND));
            if (there && following) {
                return;
            }
            if (there) {
                learn(new Knowledge.Reading());
                start();
            } else {
                // A watch of what is not there any more goes on in silence for minutes.
                stop();
            }
        } catch (RuntimeException e) {
            // Whatever it is: the next look has to take place.
            if (!following) {
                learn(new Knowledge.Pending(String.valueOf(e.getMessage())));
            }
        }
    }

    private void start() {
        List<SharedIndexInformer<GenericKubernetesResource>> all = new ArrayList<>();
        if (namespaces.isEmpty()) {
            all.add(client.genericKubernetesResources(DnsEndpoint.CONTEXT)
                    .inAnyNamespace()
                    .withLabels(DnsEndpoint.LABELS)
                    .runnableInformer(0));
        }
        for (String namespace : namespaces) {
            all.add(client.genericKubernetesResources(DnsEndpoint.CONTEXT)
                    .inNamespace(namespace)
                    .withLabels(DnsEndpoint.LABELS)
                    .runnableInformer(0));
        }
        informers = List.copyOf(all);
        for (SharedIndexInformer<GenericKubernetesResource> informer : all) {
            informer.addEventHandler(new Changes());
            informer.exceptionHandler((running, e) -> {
                if (e instanceof KubernetesClientException refused
                        && refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                    looking.execute(this::stop);
                    return false;
                }
                if (!running) {
                    learn(new Knowledge.Pending(String.valueOf(e.getMessage())));
                }
                return true;
            });
            var _ = informer.start().thenRun(() -> {
                if (all.stream().allMatch(SharedIndexInformer::hasSynced)) {
                    learn(new Knowledge.Whole());
                }
            });
        }
    }

    /** The kind is not there, and none of its objects is. */
    private void stop() {
        List<SharedIndexInformer<GenericKubernetesResource>> all = informers;
        informers = List.of();
        ahead.clear();
        all.forEach(SharedIndexInformer::close);
        learn(new Knowledge.NoKind());
    }

    private void learn(Knowledge now) {
        Knowledge before = knowledge;
        knowledge = now;
        if (!now.equals(before)) {
            LOG.atInfo().addKeyValue("knowledge", now).log("What is known of DNSEndpoints has changed");
            learned.run();
        }
    }

    /** Every DNSEndpoint of this operator. */
    List<GenericKubernetesResource> all() {
        return Stream.concat(
                        informers.stream()
                                .flatMap(informer -> informer.getStore().list().stream())
                                .map(Ref::of),
                        ahead.keySet().stream())
                .distinct()
                .sorted()
                .flatMap(ref -> get(ref).stream())
                .toList();
    }

    Optional<GenericKubernetesResource> get(Ref ref) {
        GenericKubernetesResource written = ahead.get(ref);
        return written != null ? Optional.of(written) : cached(ref);
    }

    private Optional<GenericKubernetesResource> cached(Ref ref) {
        return informers.stream()
                .flatMap(informer -> Stream.ofNullable(
                        informer.getStore().getByKey(Cache.namespaceKeyFunc(ref.namespace(), ref.name()))))
                .findFirst();
    }

    /** Tells of a write, before its event comes. */
    void written(GenericKubernetesResource endpoint) {
        ahead.put(Ref.of(endpoint), endpoint);
        // The event may have come before.
        cached(Ref.of(endpoint)).ifPresent(this::caughtUp);
    }

    /** Tells that an object is not as it was written. */
    void refuted(Ref ref) {
        ahead.remove(ref);
    }

    private void caughtUp(GenericKubernetesResource seen) {
        ahead.computeIfPresent(
                Ref.of(seen),
                (ref, written) -> ShardStore.version(seen) >= ShardStore.version(written) ? null : written);
    }

    @Override
    public void close() {
        looking.shutdownNow();
        informers.forEach(SharedIndexInformer::close);
    }

    private final class Changes implements ResourceEventHandler<GenericKubernetesResource> {

        @Override
        public void onAdd(GenericKubernetesResource added) {
            caughtUp(added);
            changed.accept(added);
        }

        @Override
        public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource after) {
            caughtUp(after);
            changed.accept(after);
        }

        @Override
        public void onDelete(GenericKubernetesResource deleted, boolean finalStateUnknown) {
            if (finalStateUnknown) {
                ahead.remove(Ref.of(deleted));
            } else {
                caughtUp(deleted);
            }
            changed.accept(deleted);
        }
    }
}
