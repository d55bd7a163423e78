package dev.apportion.simulation;

import java.util.Optional;

/**
 * Clients that DNS can tell apart from others: a stream.
 *
 * @param name its unique name
 * @param rate requests/s, of Poisson arrivals; not negative
 * @param home the site that is local to it; empty if none is
 * @param delay the network's delay to the servers and back, in seconds; not negative
 */
public record Population(String name, double rate, Optional<String> home, double delay) {}
