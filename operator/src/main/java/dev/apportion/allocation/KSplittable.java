package dev.apportion.allocation;

/** KSplittable. */
public record KSplittable() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        throw new AssertionError("written next");
    }
}
