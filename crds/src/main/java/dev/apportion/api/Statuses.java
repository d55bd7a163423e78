package dev.apportion.api;

/** The descriptions of what every status has. */
final class Statuses {

    static final String OBSERVED_GENERATION = "The generation of the resource that this status is about.";
    static final String CONDITIONS = "What holds of the resource, and why. The condition Ready is the summary.";
    static final String RATE = "The rate that the allocation counts with, in requests per second, as a decimal text.";
    static final String ANSWERS =
            "The answer that is published: the addresses with their weights. At most 50 are shown.";

    private Statuses() {}
}
