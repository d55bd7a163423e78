package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import dev.apportion.allocation.Tolerance;
import dev.apportion.api.Amount;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.health.HealthCheck;
import dev.apportion.load.Quantity;
import dev.apportion.load.Series;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Judges ReplicaPools. Pure. */
final class PoolAdmission {

    private static final double PERCENT = 100;

    private PoolAdmission() {}

    static Judged<AdmittedPool> judge(ReplicaPool pool) {
        ReplicaPoolSpec spec = pool.getSpec();
        if (spec == null) {
            return Judged.rejected("Unreadable", Admission.unreadable(pool));
        }
        List<AdmittedPool.Site> sites = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (ReplicaPoolSpec.Site site : spec.sites()) {
            if (!names.add(site.name())) {
                return Judged.rejected("InvalidSpec", "two sites have the name \"%s\"".formatted(site.name()));
            }
            switch (source(site)) {
                case Parsed.Value<AdmittedPool.Source>(AdmittedPool.Source source) ->
                    sites.add(new AdmittedPool.Site(
                            site.name(), site.priority(), site.capacity().value(), site.concurrency(), source));
                case Parsed.Invalid<AdmittedPool.Source>(String problem) -> {
                    return Judged.rejected("InvalidSpec", "spec.sites[%s]: %s".formatted(site.name(), problem));
                }
            }
        }
        return Judged.admitted(new AdmittedPool(
                Ref.of(pool),
                sites,
                Policies.of(spec.policy()),
                spec.policy().type().name(),
                spec.mode() == ReplicaPoolSpec.Mode.Observe,
                behavior(spec.behavior()),
                Optional.ofNullable(spec.load()).flatMap(PoolAdmission::load)));
    }

    private static AdmittedPool.Behavior behavior(ReplicaPoolSpec.Behavior behavior) {
        Integer cooldown = behavior.cooldownSeconds();
        return new AdmittedPool.Behavior(
                new Tolerance(
                        behavior.actAbovePercent() / PERCENT,
                        behavior.repairToPercent() / PERCENT,
                        behavior.maxShiftPercent() / PERCENT),
                cooldown == null ? OptionalInt.empty() : OptionalInt.of(cooldown),
                Optional.ofNullable(behavior.slowStart())
                        .map(ramp -> new AdmittedPool.SlowStart(
                                Duration.ofSeconds(ramp.windowSeconds()),
                                ramp.minPercent() / PERCENT,
                                ramp.aggression().value())),
                behavior.minReadyPercent(),
                behavior.maxRemovalPercent());
    }

    private static Optional<AdmittedPool.Load> load(ReplicaPoolSpec.Load load) {
        return from(load)
                .map(from -> new AdmittedPool.Load(
                        from,
                        Duration.ofSeconds(load.intervalSeconds()),
                        Duration.ofSeconds(load.staleAfterSeconds())));
    }

    private static Optional<AdmittedPool.From> from(ReplicaPoolSpec.Load load) {
        if (load.scrape() != null) {
            ReplicaPoolSpec.Scrape scrape = load.scrape();
            return Optional.of(
                    new AdmittedPool.From.Scrape(scrape.port().text(), scrape.path(), series(scrape.series())));
        }
        if (load.prometheus() != null) {
            ReplicaPoolSpec.PrometheusLoad prometheus = load.prometheus();
            return Optional.of(new AdmittedPool.From.Prometheus(prometheus.source(), series(prometheus.series())));
        }
        return Optional.ofNullable(load.podMetrics())
                .map(metrics -> new AdmittedPool.From.PodMetrics(
                        switch (metrics.resource()) {
                            case CPU -> "cpu";
                            case MEMORY -> "memory";
                        }));
    }

    private static Series series(ReplicaPoolSpec.Series series) {
        Map<Quantity, String> names = new EnumMap<>(Quantity.class);
        putIfPresent(names, Quantity.REQUESTS, series.requests());
        putIfPresent(names, Quantity.IN_FLIGHT, series.inFlight());
        putIfPresent(names, Quantity.CONNECTIONS, series.connections());
        putIfPresent(names, Quantity.USERS, series.users());
        putIfPresent(names, Quantity.UNIQUE_USERS, series.uniqueUsers());
        putIfPresent(names, Quantity.LOAD_AVERAGE, series.loadAverage());
        return new Series(names);
    }

    private static void putIfPresent(Map<Quantity, String> names, Quantity quantity, @Nullable String name) {
        if (name != null) {
            names.put(quantity, name);
        }
    }

    private static Parsed<AdmittedPool.Source> source(ReplicaPoolSpec.Site site) {
        ReplicaPoolSpec.ServiceSource service = site.service();
        List<ReplicaPoolSpec.Endpoint> endpoints = site.endpoints();
        if ((service == null) == (endpoints == null)) {
            return new Parsed.Invalid<>("exactly one of service and endpoints is required");
        }
        if (service != null) {
            return new Parsed.Value<>(new AdmittedPool.Source.Service(service.name(), service.publish()));
        }
        List<AdmittedPool.FixedReplica> replicas = new ArrayList<>();
        for (ReplicaPoolSpec.Endpoint endpoint : endpoints) {
            List<IPAddress> addresses = new ArrayList<>();
            for (String text : endpoint.allAddresses()) {
                switch (Addresses.parse(text)) {
                    case Parsed.Value<IPAddress>(IPAddress address) -> addresses.add(address);
                    case Parsed.Invalid<IPAddress>(String problem) -> {
                        return new Parsed.Invalid<>("endpoint %s: %s".formatted(endpoint.name(), problem));
                    }
                }
            }
            double capacity = endpoint.capacity() == null
                    ? site.capacity().value()
                    : endpoint.capacity().value();
            replicas.add(new AdmittedPool.FixedReplica(
                    endpoint.name(),
                    addresses,
                    capacity,
                    endpoint.capacity() != null,
                    endpoint.drain(),
                    sample(endpoint.measured())));
        }
        return new Parsed.Value<>(new AdmittedPool.Source.Fixed(
                replicas, Optional.ofNullable(site.healthCheck()).map(PoolAdmission::check)));
    }

    private static HealthCheck check(ReplicaPoolSpec.HealthCheck check) {
        return new HealthCheck(
                question(check),
                Duration.ofSeconds(check.intervalSeconds()),
                Duration.ofSeconds(check.timeoutSeconds()),
                check.unhealthyAfter(),
                check.healthyAfter());
    }

    private static HealthCheck.Question question(ReplicaPoolSpec.HealthCheck check) {
        ReplicaPoolSpec.HttpCheck http = check.http();
        return http == null
                ? new HealthCheck.Question.Tcp(
                        Objects.requireNonNull(check.tcp()).port())
                : new HealthCheck.Question.Http(
                        http.port(),
                        http.path(),
                        http.scheme() == ReplicaPoolSpec.Scheme.HTTPS,
                        Optional.ofNullable(http.host()));
    }

    private static Sample sample(ReplicaPoolSpec.@Nullable Measured measured) {
        return measured == null
                ? Sample.NONE
                : new Sample(
                        value(measured.requests()),
                        value(measured.inFlight()),
                        value(measured.connections()),
                        value(measured.users()),
                        value(measured.uniqueUsers()),
                        value(measured.loadAverage()));
    }

    private static OptionalDouble value(@Nullable Amount amount) {
        return amount == null ? OptionalDouble.empty() : OptionalDouble.of(amount.value());
    }
}
