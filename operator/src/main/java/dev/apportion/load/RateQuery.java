package dev.apportion.load;

/**
 * A question for a rate.
 *
 * @param source the name that the administrator gave the server that is asked
 * @param text in PromQL; its result is one number
 */
public record RateQuery(String source, String text) {}
