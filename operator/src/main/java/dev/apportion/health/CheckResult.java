package dev.apportion.health;

/** What came of asking an endpoint once. */
public sealed interface CheckResult {

    record Passed() implements CheckResult {}

    /** It failed, for a reason that people understand. */
    record Failed(String reason) implements CheckResult {}
}
