package dev.apportion.allocation;

/**
 * A way to spread streams over replicas. It is total (every problem has an answer), deterministic, and independent of the
 * order in which replicas and streams are listed: ties are broken by name.
 */
public sealed interface Policy
        permits RoundRobin,
                WeightedRoundRobin,
                LeastConnections,
                WeightedLeastConnections,
                LoadAverage,
                Rating,
                KSplittable,
                ZipfZones,
                GlobalQueue {

    Allocation allocate(Problem problem);

    /** What of its allocation a running one has to keep up with. */
    default Aim aim() {
        return Aim.LOADS;
    }
}
