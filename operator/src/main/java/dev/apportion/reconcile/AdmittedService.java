package dev.apportion.reconcile;

import java.util.OptionalInt;

/**
 * A TrafficService whose host name is valid and its own, and whose zone lets it publish.
 *
 * @param hostname the canonical host name
 * @param zone the DNSZone that it publishes in
 * @param pool the ReplicaPool that serves it
 * @param maxReplicas k, where it says so
 * @param ttlSeconds the time to live of its answers
 * @param paused true when what is published stays as it is
 */
public record AdmittedService(
        Ref ref, String hostname, Ref zone, Ref pool, OptionalInt maxReplicas, int ttlSeconds, boolean paused) {}
