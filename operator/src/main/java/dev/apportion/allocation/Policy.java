package dev.apportion.allocation;

/**
 * A way to spread streams over replicas. It is total (every problem has an answer), deterministic, and independent of the
 * order in which replicas and streams are listed: ties are broken by name.
 */
public sealed interface Policy permits RoundRobin, WeightedRoundRobin, KSplittable, ZipfZones, GlobalQueue {

    Allocation allocate(Problem problem);
}
