package dev.apportion.allocation;

/**
 * Shares in proportion to capacity. A stream with fewer than all its eligible replicas uses the least loaded ones; streams
 * choose by descending rate.
 */
public record WeightedRoundRobin() implements Policy {
    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        return in.allocation(
                new RotatingSpread(in, RotatingSpread.Proportions.BY_CAPACITY).pieces(),
                measure.level(),
                measure.bound());
    }
}
