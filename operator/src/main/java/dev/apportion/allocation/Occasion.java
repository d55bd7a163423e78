package dev.apportion.allocation;

/** Why an allocation is looked at again. */
public enum Occasion {

    /** Rates or measurements are others: what is within its tolerance stays. */
    DRIFT,

    /** The last change is too recent: nothing moves but what has lost its replica. */
    COOLING,

    /** Somebody changed what there is, or what is wanted of it: loads are brought near their goals at once. */
    INTENT
}
