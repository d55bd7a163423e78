package dev.apportion.dns.wire;

/** How the responses through a resolver compare with the weights that are published. */
public sealed interface ShareVerdict {

    /** The responses that were counted. */
    Draws draws();

    /** Nothing speaks against the weights. */
    record Fit(Draws draws) implements ShareVerdict {}

    /** Something does, but not clearly enough yet. */
    record Undecided(Draws draws) implements ShareVerdict {}

    /** Every address comes first equally often, whatever its weight. */
    record Even(Draws draws) implements ShareVerdict {}

    /** Neither the weights nor equal shares. */
    record Other(Draws draws) implements ShareVerdict {}

    /**
     * Whoever asks is given what was answered before.
     *
     * @param everyName whether that is one address for all names; else it is one for each name, until its time to live is over
     */
    record Pinned(Draws draws, boolean everyName) implements ShareVerdict {}
}
