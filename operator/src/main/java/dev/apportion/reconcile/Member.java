package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * A replica of a pool as it was found.
 *
 * @param name the pod's name, the fixed endpoint's name, or the address; unique within the pool
 * @param site the site that it belongs to
 * @param capacity what it bears, in requests/s
 * @param concurrency the requests that it serves at once
 * @param measured what is known of its load
 * @param addresses the addresses that may be answered, sorted; without those that do not serve
 * @param state whether it may be in answers
 * @param because where the capacity and the state come from
 */
public record Member(
        String name,
        String site,
        double capacity,
        int concurrency,
        Sample measured,
        List<IPAddress> addresses,
        State state,
        List<String> because) {

    public Member {
        addresses = addresses.stream().distinct().sorted().toList();
        because = List.copyOf(because);
    }

    /** Whether a replica may be in answers. */
    public enum State {
        Ready,
        NotReady,
        Draining
    }

    /** The same replica with one more reason. */
    Member because(String reason) {
        List<String> reasons = new ArrayList<>(because);
        reasons.add(reason);
        return new Member(name, site, capacity, concurrency, measured, addresses, state, reasons);
    }

    /** Whether nothing is known of its load. */
    boolean isSilent() {
        return measured.equals(Sample.NONE);
    }

    public boolean isReady() {
        return state == State.Ready && !addresses.isEmpty();
    }
}
