package dev.apportion.allocation;

/** WeightedRoundRobin. */
public record WeightedRoundRobin() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        throw new AssertionError("written next");
    }
}
