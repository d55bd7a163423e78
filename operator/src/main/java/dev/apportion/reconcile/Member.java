package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import inet.ipaddr.IPAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A replica of a pool as it was found.
 *
 * @param name the pod's name, the fixed endpoint's name, or the address; unique within the pool
 * @param site the site that it belongs to
 * @param declared what it bears by declaration, in requests/s
 * @param capacity what it bears as far as is known, in requests/s
 * @param concurrency the requests that it serves at once
 * @param measured what is known of its load
 * @param load where that comes from
 * @param warmth the part of its share that it may have yet, above 0 and at most 1
 * @param processes what runs behind its addresses
 * @param addresses the addresses that may be answered, sorted; without those that do not serve
 * @param state whether it may be in answers
 * @param because where the capacity and the state come from
 */
public record Member(
        String name,
        String site,
        double declared,
        double capacity,
        int concurrency,
        Sample measured,
        Load load,
        double warmth,
        List<Server> processes,
        List<IPAddress> addresses,
        State state,
        List<String> because) {

    public Member {
        processes = List.copyOf(processes);
        addresses = addresses.stream().distinct().sorted().toList();
        because = List.copyOf(because);
    }

    /** A replica of which no more is known than is declared. */
    public Member(
            String name,
            String site,
            double capacity,
            int concurrency,
            Sample measured,
            List<IPAddress> addresses,
            State state,
            List<String> because) {
        this(
                name,
                site,
                capacity,
                capacity,
                concurrency,
                measured,
                new Load.Declared(),
                1,
                List.of(),
                addresses,
                state,
                because);
    }

    /** Whether a replica may be in answers. */
    public enum State {
        Ready,
        NotReady,
        Draining
    }

    /**
     * Something that can be asked for its load.
     *
     * @param name the pod's name, or that of a fixed endpoint
     * @param uid the pod's uid; empty where it is no pod
     * @param address where it is
     * @param ports the numbers of its ports by their names
     * @param started when it began to run; empty if that is not known
     */
    public record Server(
            String name, String uid, IPAddress address, Map<String, Integer> ports, Optional<Instant> started) {

        public Server {
            ports = Map.copyOf(ports);
        }

        /** One of which it is not known when it began to run. */
        public Server(String name, String uid, IPAddress address, Map<String, Integer> ports) {
            this(name, uid, address, ports, Optional.empty());
        }

        boolean isPod() {
            return !uid.isEmpty();
        }
    }

    /** Where what is known of a replica's load comes from. */
    public sealed interface Load {

        /** From the pool's specification, if anything is known at all: the pool has no source of load. */
        record Declared() implements Load {}

        record Measured() implements Load {}

        /**
         * An earlier measurement counts on, although a later one failed.
         *
         * @param partly whether something was measured last all the same
         */
        record Held(String reason, boolean partly) implements Load {}

        /**
         * Measured, but every replica of the pool has all that it bears, so that capacity decides alone.
         *
         * @param held why an earlier measurement counts on; empty if it is a new one
         */
        record Hot(String held) implements Load {}

        /**
         * There is no measurement that counts.
         *
         * @param counted whether a replica that has no share yet has waited long enough for its first measurement
         */
        record Missing(String reason, boolean counted) implements Load {}
    }

    /** The same replica with one more reason. */
    Member because(String reason) {
        List<String> reasons = new ArrayList<>(because);
        reasons.add(reason);
        return because(reasons);
    }

    Member because(List<String> reasons) {
        return new Member(
                name,
                site,
                declared,
                capacity,
                concurrency,
                measured,
                load,
                warmth,
                processes,
                addresses,
                state,
                reasons);
    }

    Member named(String other) {
        return new Member(
                other,
                site,
                declared,
                capacity,
                concurrency,
                measured,
                load,
                warmth,
                processes,
                addresses,
                state,
                because);
    }

    /** The same replica with what runs behind its addresses. */
    Member of(List<Server> others) {
        return new Member(
                name, site, declared, capacity, concurrency, measured, load, warmth, others, addresses, state, because);
    }

    /** The same replica with what was measured of it. */
    Member measured(Load from, Sample sample, double estimate) {
        return new Member(
                name,
                site,
                declared,
                estimate,
                concurrency,
                sample,
                from,
                warmth,
                processes,
                addresses,
                state,
                because);
    }

    /** The same replica with the part of its share that it may have yet. */
    Member warm(double part) {
        return new Member(
                name,
                site,
                declared,
                capacity,
                concurrency,
                measured,
                load,
                part,
                processes,
                addresses,
                state,
                because);
    }

    /** Whether nothing is known of its load. */
    boolean isSilent() {
        return switch (load) {
            case Load.Declared declared -> measured.equals(Sample.NONE);
            case Load.Measured known -> false;
            case Load.Held known -> false;
            case Load.Hot known -> false;
            case Load.Missing missing -> true;
        };
    }

    public boolean isReady() {
        return state == State.Ready && !addresses.isEmpty();
    }

    boolean isWarming() {
        return warmth < 1;
    }
}
