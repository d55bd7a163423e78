package dev.apportion.reconcile;

import dev.apportion.allocation.GlobalQueue;
import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.LeastConnections;
import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.allocation.LoadAverage;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Rating;
import dev.apportion.allocation.RoundRobin;
import dev.apportion.allocation.WeightedLeastConnections;
import dev.apportion.allocation.WeightedRoundRobin;
import dev.apportion.allocation.ZipfZones;
import dev.apportion.api.ReplicaPoolSpec;
import java.util.OptionalInt;

/** The policy that the field {@code policy} of a ReplicaPool names. */
public final class Policies {

    private static final double MILLIS_PER_SECOND = 1000;

    private Policies() {}

    public static Policy of(ReplicaPoolSpec.Policy policy) {
        return switch (policy.type()) {
            case RoundRobin -> new RoundRobin();
            case WeightedRoundRobin -> new WeightedRoundRobin();
            case LeastConnections -> new LeastConnections();
            case WeightedLeastConnections -> leastConnections(policy.weightedLeastConnections());
            case LoadAverage -> new LoadAverage();
            case Rating -> rating(policy.rating());
            case ZipfZones -> zipfZones(policy.zipfZones());
            case GlobalQueue -> globalQueue(policy.globalQueue());
            case KSplittable ->
                new KSplittable(
                        switch (policy.kSplittable().split()) {
                            case Optimal -> KSplittable.Split.OPTIMAL;
                            case EqualRandom -> KSplittable.Split.EQUAL_RANDOM;
                            case EqualScheduled -> KSplittable.Split.EQUAL_SCHEDULED;
                        },
                        policy.seed());
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
}
