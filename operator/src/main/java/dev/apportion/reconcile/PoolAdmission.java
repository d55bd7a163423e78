package dev.apportion.reconcile;

import dev.apportion.allocation.GlobalQueue;
import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.LeastConnections;
import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.allocation.LoadAverage;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Rating;
import dev.apportion.allocation.RoundRobin;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.Tolerance;
import dev.apportion.allocation.WeightedLeastConnections;
import dev.apportion.allocation.WeightedRoundRobin;
import dev.apportion.allocation.ZipfZones;
import dev.apportion.api.Amount;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Judges ReplicaPools. Pure. */
final class PoolAdmission {

    private static final double PERCENT = 100;
    private static final double MILLIS_PER_SECOND = 1000;

    private PoolAdmission() {}

    static Judged<AdmittedPool> judge(ReplicaPool pool) {
        ReplicaPoolSpec spec = pool.getSpec();
        if (spec == null) {
            return Judged.rejected("Unreadable", Admission.unreadable(pool));
        }
        Optional<String> missing = notImplemented(spec);
        if (missing.isPresent()) {
            return Judged.rejected(
                    "NotImplemented", missing.get() + " is not implemented in this version; maybe remove it for now");
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
                policy(spec.policy()).orElseThrow(),
                spec.policy().type().name(),
                spec.mode() == ReplicaPoolSpec.Mode.Observe,
                behavior(spec.behavior())));
    }

    private static AdmittedPool.Behavior behavior(ReplicaPoolSpec.Behavior behavior) {
        Integer cooldown = behavior.cooldownSeconds();
        return new AdmittedPool.Behavior(
                new Tolerance(
                        behavior.actAbovePercent() / PERCENT,
                        behavior.repairToPercent() / PERCENT,
                        behavior.maxShiftPercent() / PERCENT),
                cooldown == null ? OptionalInt.empty() : OptionalInt.of(cooldown));
    }

    /** The policy that is asked for; empty where it is not implemented. */
    private static Optional<Policy> policy(ReplicaPoolSpec.Policy policy) {
        return switch (policy.type()) {
            case RoundRobin -> Optional.of(new RoundRobin());
            case WeightedRoundRobin -> Optional.of(new WeightedRoundRobin());
            case LeastConnections -> Optional.of(new LeastConnections());
            case WeightedLeastConnections -> Optional.of(leastConnections(policy.weightedLeastConnections()));
            case LoadAverage -> Optional.of(new LoadAverage());
            case Rating -> Optional.of(rating(policy.rating()));
            case ZipfZones -> Optional.of(zipfZones(policy.zipfZones()));
            case GlobalQueue -> Optional.of(globalQueue(policy.globalQueue()));
            case KSplittable ->
                Optional.of(new KSplittable(
                        switch (policy.kSplittable().split()) {
                            case Optimal -> KSplittable.Split.OPTIMAL;
                            case EqualRandom -> KSplittable.Split.EQUAL_RANDOM;
                            case EqualScheduled -> KSplittable.Split.EQUAL_SCHEDULED;
                        },
                        policy.seed()));
        };
    }

    private static Policy leastConnections(ReplicaPoolSpec.WeightedLeastConnectionsParameters parameters) {
        Integer most = parameters.maxContinuousAllocations();
        return new WeightedLeastConnections(
                most == null ? OptionalInt.empty() : OptionalInt.of(most),
                switch (parameters.round()) {
                    case Allocation -> LeastConnectionsRun.Round.ALLOCATION;
                    case Cycle -> LeastConnectionsRun.Round.CYCLE;
                });
    }

    private static Policy rating(ReplicaPoolSpec.RatingParameters parameters) {
        return new Rating(
                switch (parameters.mode()) {
                    case Best -> Rating.Mode.BEST;
                    case Weighted -> Rating.Mode.WEIGHTED;
                },
                parameters.weightPerUser(),
                parameters.usersPerLoadUnit(),
                parameters.dispatchPenalty());
    }

    private static ZipfZones zipfZones(ReplicaPoolSpec.ZipfZonesParameters parameters) {
        ZipfZones.Zones zones = switch (parameters.zones()) {
            case Three -> ZipfZones.Zones.Three;
            case Continuous -> ZipfZones.Zones.Continuous;
        };
        return new ZipfZones(zones, parameters.maxVariationPercent(), parameters.bytesPerKey());
    }

    private static GlobalQueue globalQueue(ReplicaPoolSpec.GlobalQueueParameters parameters) {
        return new GlobalQueue(
                parameters.reclaim(),
                parameters.linkBudget(),
                parameters.targetWaitMillis() / MILLIS_PER_SECOND,
                parameters.serviceTimeMillis() / MILLIS_PER_SECOND);
    }

    private static Optional<String> notImplemented(ReplicaPoolSpec spec) {
        ReplicaPoolSpec.Policy policy = spec.policy();
        if (policy(policy).isEmpty()) {
            return Optional.of("spec.policy.type " + policy.type());
        }
        if (spec.load() != null) {
            return Optional.of("spec.load");
        }
        for (ReplicaPoolSpec.Site site : spec.sites()) {
            if (site.healthCheck() != null) {
                return Optional.of("spec.sites[%s].healthCheck".formatted(site.name()));
            }
        }
        return Optional.empty();
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
                    endpoint.name(), addresses, capacity, endpoint.drain(), sample(endpoint.measured())));
        }
        return new Parsed.Value<>(new AdmittedPool.Source.Fixed(replicas));
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
