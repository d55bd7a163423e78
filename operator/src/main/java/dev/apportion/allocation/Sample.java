package dev.apportion.allocation;

import java.util.OptionalDouble;

/**
 * What was measured of one replica; a quantity is absent when it was not measured. Present quantities are finite and not
 * negative.
 *
 * @param requests requests/s that it serves
 * @param inFlight requests that it is serving
 * @param connections its open connections
 * @param users sessions of users
 * @param uniqueUsers distinct users
 * @param loadAverage the load average over one minute, per core
 * @param utilisation the use of a resource over what is requested of it
 */
public record Sample(
        OptionalDouble requests,
        OptionalDouble inFlight,
        OptionalDouble connections,
        OptionalDouble users,
        OptionalDouble uniqueUsers,
        OptionalDouble loadAverage,
        OptionalDouble utilisation) {

    /** One without the use of a resource. */
    public Sample(
            OptionalDouble requests,
            OptionalDouble inFlight,
            OptionalDouble connections,
            OptionalDouble users,
            OptionalDouble uniqueUsers,
            OptionalDouble loadAverage) {
        this(requests, inFlight, connections, users, uniqueUsers, loadAverage, OptionalDouble.empty());
    }

    /** Nothing was measured. */
    public static final Sample NONE = new Sample(
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty());
}
