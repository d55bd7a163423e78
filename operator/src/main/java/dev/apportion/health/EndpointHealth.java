package dev.apportion.health;

/** Whether an endpoint is well, as far as is known. */
public sealed interface EndpointHealth {

    /** It has not answered, nor failed to, since it is being asked. */
    record Unchecked() implements EndpointHealth {}

    record Healthy() implements EndpointHealth {}

    /**
     * It is not well.
     *
     * @param reason what its check said when it failed at last, for people
     */
    record Unhealthy(String reason) implements EndpointHealth {}
}
