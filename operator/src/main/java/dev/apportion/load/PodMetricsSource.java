package dev.apportion.load;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.metrics.v1beta1.ContainerMetrics;
import io.fabric8.kubernetes.api.model.metrics.v1beta1.PodMetrics;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Asks the metrics API of Kubernetes for the pods of a namespace. What counts is the use of a resource over what the containers
 * of the pod request of it.
 */
public final class PodMetricsSource implements Source {

    /** What is granted by the role apportion-metrics. */
    private static final String RULE = "{apiGroups: [metrics.k8s.io], resources: [pods], verbs: [list]}";

    /** A request can be changed in place; it is looked at again now and then. */
    private static final Duration REMEMBERED = Duration.ofMinutes(10);

    /** The newest of all samples is younger than this, or the clock that says otherwise is wrong. */
    private static final Duration OLDEST = Duration.ofMinutes(5);

    /** Clocks of the nodes differ; a sample from further ahead is wrong. */
    private static final Duration FUTURE = Duration.ofSeconds(30);

    private final KubernetesClient client;
    private final Clock clock;
    private final LongSupplier nanoTime;
    private @Nullable Steady steady;

    /** What is known of the pods of each namespace. */
    private final Map<String, Known> namespaces = new ConcurrentHashMap<>();

    /**
     * Asks through a client.
     *
     * @param clock orders samples against the time of this machine, whose metrics server is another
     */
    public PodMetricsSource(KubernetesClient client, Clock clock) {
        this(client, clock, System::nanoTime);
    }

    PodMetricsSource(KubernetesClient client, Clock clock, LongSupplier nanoTime) {
        this.client = client;
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    /**
     * What of a pod never changes, or seldom.
     *
     * @param started when it was started; null if nobody says
     * @param requests what its containers request, by resource; without a resource of which some container requests nothing
     */
    private record PodFacts(String uid, @Nullable Instant started, Map<String, BigDecimal> requests) {

        static PodFacts of(Pod pod) {
            List<Container> containers = Optional.ofNullable(pod.getSpec())
                    .map(PodSpec::getContainers)
                    .orElse(List.of());
            Map<String, BigDecimal> sums = new HashMap<>();
            for (String resource : List.of("cpu", "memory")) {
                BigDecimal sum = BigDecimal.ZERO;
                boolean complete = !containers.isEmpty();
                for (Container container : containers) {
                    Optional<BigDecimal> request = Optional.ofNullable(container.getResources())
                            .map(ResourceRequirements::getRequests)
                            .map(requests -> requests.get(resource))
                            .map(PodMetricsSource::amount);
                    complete &= request.filter(amount -> amount.signum() > 0).isPresent();
                    sum = sum.add(request.orElse(BigDecimal.ZERO));
                }
                if (complete) {
                    sums.put(resource, sum);
                }
            }
            String started = Optional.ofNullable(pod.getStatus())
                    .map(PodStatus::getStartTime)
                    .orElse(null);
            return new PodFacts(pod.getMetadata().getUid(), time(started), Map.copyOf(sums));
        }
    }

    private record Known(long sinceNanos, Map<String, PodFacts> byName) {

        boolean has(Target target) {
            PodFacts facts = byName.get(target.name());
            return facts != null && facts.uid().equals(target.uid());
        }
    }

    @Override
    public void read(Method method, Collection<Target> targets, BiConsumer<Target, Readout> found) {
        if (!(method instanceof Method.PodMetrics asked)) {
            throw new IllegalArgumentException("not the metrics API: " + method);
        }
        Map<String, PodMetrics> metrics;
        Known known;
        try {
            metrics = client.top().pods().metrics(asked.namespace()).getItems().stream()
                    .collect(Collectors.toMap(one -> one.getMetadata().getName(), one -> one, (one, two) -> one));
            known = known(asked.namespace(), targets);
        } catch (KubernetesClientException e) {
            Readout failed = new Readout.Failed(gap(e), words(e));
            targets.forEach(target -> found.accept(target, failed));
            return;
        }
        long arrived = nanoTime.getAsLong();
        Instant now = time(arrived, metrics.values());
        for (Target target : targets) {
            found.accept(target, readout(target, asked.resource(), metrics.get(target.name()), known, now, arrived));
        }
    }

    /**
     * The time that samples are compared with: that of this machine's clock as it was first read, and what has gone by since, so
     * that a clock that is set changes nothing. Where the newest sample cannot be from then, the clock is read anew: it was
     * wrong before.
     */
    private synchronized Instant time(long nanos, Collection<PodMetrics> samples) {
        Optional<Instant> newest = samples.stream()
                .flatMap(sample -> Optional.ofNullable(time(sample.getTimestamp())).stream())
                .max(Instant::compareTo);
        Steady known = steady;
        if (known != null
                && newest.filter(taken -> isNear(taken, known.at(nanos))).isPresent()) {
            return known.at(nanos);
        }
        steady = new Steady(clock.instant(), nanos);
        return steady.time();
    }

    private static boolean isNear(Instant newest, Instant now) {
        Duration age = Duration.between(newest, now);
        return age.compareTo(FUTURE.negated()) >= 0 && age.compareTo(OLDEST) <= 0;
    }

    /** A time of the clock, and of the monotonic clock. */
    private record Steady(Instant time, long nanos) {
        Instant at(long later) {
            return time.plusNanos(later - nanos);
        }
    }

    private Known known(String namespace, Collection<Target> targets) {
        Known before = namespaces.get(namespace);
        if (before != null
                && nanoTime.getAsLong() - before.sinceNanos() < REMEMBERED.toNanos()
                && targets.stream().allMatch(before::has)) {
            return before;
        }
        Map<String, PodFacts> facts = new HashMap<>();
        client.pods()
                .inNamespace(namespace)
                .list()
                .getItems()
                .forEach(pod -> facts.put(pod.getMetadata().getName(), PodFacts.of(pod)));
        Known known = new Known(nanoTime.getAsLong(), Map.copyOf(facts));
        namespaces.put(namespace, known);
        return known;
    }

    /** An API server that gave no answer has no code. */
    private static Gap gap(KubernetesClientException e) {
        return switch (e.getCode()) {
            case 0 -> Gap.Unreachable;
            case HttpURLConnection.HTTP_NOT_FOUND -> Gap.Absent;
            default -> Gap.Refused;
        };
    }

    private static String words(KubernetesClientException e) {
        return switch (e.getCode()) {
            case HttpURLConnection.HTTP_FORBIDDEN ->
                "the metrics API refuses (403); the operator needs the rule " + RULE
                        + " here, which the role apportion-metrics has: " + e.getMessage();
            case HttpURLConnection.HTTP_NOT_FOUND ->
                "there is no metrics API (404); maybe metrics-server is not installed in this cluster";
            case HttpURLConnection.HTTP_UNAVAILABLE ->
                "the metrics API is not available (503); maybe metrics-server is not ready";
            default -> "the metrics API cannot be asked: " + e.getMessage();
        };
    }

    private static Readout readout(
            Target target, String resource, @Nullable PodMetrics metrics, Known known, Instant now, long arrived) {
        if (target.uid().isEmpty()) {
            return new Readout.Failed(Gap.NotAsked, "no pod stands behind it, and the metrics API knows pods only");
        }
        PodFacts facts = known.byName().get(target.name());
        if (facts == null || !facts.uid().equals(target.uid())) {
            return new Readout.Failed(Gap.Absent, "the pod is not there any more");
        }
        if (metrics == null) {
            return new Readout.Failed(Gap.Absent, "the metrics API has no sample of the pod yet");
        }
        BigDecimal requested = facts.requests().get(resource);
        if (requested == null) {
            return new Readout.Failed(
                    Gap.NoRequest,
                    "a container of the pod requests no " + resource
                            + ", so there is nothing that its use is a part of");
        }
        Instant taken = time(metrics.getTimestamp());
        if (taken == null) {
            return new Readout.Failed(Gap.Malformed, "the sample has no time");
        }
        if (facts.started() != null && taken.isBefore(facts.started())) {
            return new Readout.Failed(Gap.Outdated, "the sample is older than the pod");
        }
        Duration age = Duration.between(taken, now);
        if (age.plus(FUTURE).isNegative()) {
            return new Readout.Failed(Gap.Future, "the sample is %d s in the future".formatted(-age.toSeconds()));
        }
        Optional<BigDecimal> used = used(resource, metrics);
        return used.<Readout>map(amount -> new Readout.Values(
                        Map.of(dev.apportion.load.Quantity.UTILISATION, amount.doubleValue() / requested.doubleValue()),
                        arrived - Math.max(0, age.toNanos()),
                        taken.toEpochMilli()))
                .orElseGet(() -> new Readout.Failed(
                        Gap.Absent, "the sample does not say how much %s is used".formatted(resource)));
    }

    private static Optional<BigDecimal> used(String resource, PodMetrics metrics) {
        BigDecimal sum = BigDecimal.ZERO;
        List<ContainerMetrics> containers =
                Objects.requireNonNullElse(metrics.getContainers(), List.<ContainerMetrics>of());
        for (ContainerMetrics container : containers) {
            Quantity used =
                    container.getUsage() == null ? null : container.getUsage().get(resource);
            if (used == null) {
                return Optional.empty();
            }
            BigDecimal amount = amount(used);
            if (amount.signum() < 0) {
                // Of two containers, one below zero would hide the other.
                return Optional.of(amount);
            }
            sum = sum.add(amount);
        }
        return containers.isEmpty() ? Optional.empty() : Optional.of(sum);
    }

    private static BigDecimal amount(Quantity quantity) {
        return quantity.getNumericalAmount();
    }

    private static @Nullable Instant time(@Nullable String text) {
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException e) {
            return null;
        }
    }
}
