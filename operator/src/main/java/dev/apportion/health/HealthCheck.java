package dev.apportion.health;

import java.time.Duration;
import java.util.Optional;

/**
 * How an endpoint is asked whether it is well.
 *
 * @param question what it is asked
 * @param interval the time between two questions
 * @param timeout how long one may take, from the connection to the answer
 * @param unhealthyAfter the failures in a row after which it is not well, at least one
 * @param healthyAfter the successes in a row after which it is well again, at least one
 */
public record HealthCheck(
        Question question, Duration interval, Duration timeout, int unhealthyAfter, int healthyAfter) {

    /** What an endpoint is asked. */
    public sealed interface Question {

        /** The port that is connected to. */
        int port();

        /** Whether it accepts a connection. */
        record Tcp(int port) implements Question {}

        /**
         * Whether it answers a GET request with a status from 200 to 399.
         *
         * @param path the path, and the query where there is one
         * @param tls whether the connection is encrypted; whose certificate it is does not matter, as the question is not who
         *     answers but whether
         * @param host the host name that is asked for, in the Host header and in TLS (SNI); empty for the address alone
         */
        record Http(int port, String path, boolean tls, Optional<String> host) implements Question {}
    }
}
