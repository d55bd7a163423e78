package dev.apportion.allocation;

/** What integers a back end can take as weights. */
public sealed interface Resolution {

    /** Weights from 1 to {@code most}: CoreDNS' weight files and Route 53 take up to 255. */
    record AtMost(int most) implements Resolution {}

    /** Weights that add up to exactly {@code sum}: the slots of single-address answers. */
    record FixedSum(int sum) implements Resolution {}
}
