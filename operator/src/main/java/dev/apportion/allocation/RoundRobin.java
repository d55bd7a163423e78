package dev.apportion.allocation;

/** RoundRobin. */
public record RoundRobin() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        throw new AssertionError("written next");
    }
}
