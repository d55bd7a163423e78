package dev.apportion.reconcile;

import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What one plan would change of the answers of one stream.
 *
 * @param service the TrafficService, as {@code namespace/name}
 * @param stream the name of the TrafficStream, empty for the implicit one
 * @param rate requests/s that it has by the new plan, or had, where it is gone
 * @param moved the part of it that goes to another address than before, 0 to 1
 * @param rows each address that is or was answered
 * @param notes what else changes, for people
 */
public record Shift(
        String hostname,
        String service,
        String stream,
        Kind kind,
        double rate,
        double moved,
        List<Row> rows,
        List<String> notes) {

    private static final Comparator<IPAddress> ORDER =
            Comparator.comparing(IPAddress::isIPv6).thenComparing(Comparator.naturalOrder());

    /** What becomes of a stream. */
    public enum Kind {
        New,
        Gone,
        Changed
    }

    /**
     * An address.
     *
     * @param before its weight before, empty where it was in no answer
     * @param after its weight after, empty where it is in no answer
     */
    public record Row(IPAddress address, String replica, Optional<Weight> before, Optional<Weight> after) {}

    /**
     * A weight.
     *
     * @param share the part of the stream's clients of the address family, 0 to 1
     */
    public record Weight(int weight, double share) {}

    /** The requests/s that go to another address than before. */
    public double movedRate() {
        return rate * moved;
    }

    /**
     * Compares what DNS says with what it shall say. Pure.
     *
     * @param rates the rate of each stream, by {@link Demand#key()}
     * @return the streams of which something changes, by host name and stream
     */
    static List<Shift> between(
            Collection<ZoneRecords> before, Collection<ZoneRecords> after, Map<String, Double> rates) {
        SortedMap<String, Side> old = sides(before);
        SortedMap<String, Side> young = sides(after);
        SortedSet<String> keys = new TreeSet<>(old.keySet());
        keys.addAll(young.keySet());
        List<Shift> shifts = new ArrayList<>();
        for (String key : keys) {
            shift(Optional.ofNullable(old.get(key)), Optional.ofNullable(young.get(key)), rates.getOrDefault(key, 0.0))
                    .ifPresent(shifts::add);
        }
        shifts.sort(Comparator.comparing(Shift::hostname).thenComparing(Shift::stream));
        return shifts;
    }

    private record Side(Host host, HostStream stream) {}

    private static SortedMap<String, Side> sides(Collection<ZoneRecords> zones) {
        SortedMap<String, Side> sides = new TreeMap<>();
        for (ZoneRecords zone : zones) {
            for (Host host : zone.hosts()) {
                for (HostStream stream : host.streams()) {
                    if (!stream.answers().isEmpty()) {
                        sides.put(Demand.key(host, stream.stream()), new Side(host, stream));
                    }
                }
            }
        }
        return sides;
    }

    private static Optional<Shift> shift(Optional<Side> before, Optional<Side> after, double rate) {
        Side known = after.or(() -> before).orElseThrow();
        List<PoolPlan.Row> old = rows(before);
        List<PoolPlan.Row> young = rows(after);
        List<String> notes = new ArrayList<>();
        if (before.isPresent() && after.isPresent()) {
            note(
                    notes,
                    "time to live",
                    before.get().host().ttlSeconds(),
                    after.get().host().ttlSeconds());
            note(
                    notes,
                    "host name",
                    before.get().host().name(),
                    after.get().host().name());
            note(notes, "clients", clients(before.get()), clients(after.get()));
            if (notes.isEmpty() && weights(old).equals(weights(young))) {
                return Optional.empty();
            }
        }
        return Optional.of(new Shift(
                known.host().name(),
                known.host().owner(),
                known.stream().stream(),
                before.isEmpty() ? Kind.New : after.isEmpty() ? Kind.Gone : Kind.Changed,
                rate,
                after.isEmpty() ? 0 : PlanChange.moved(old, young),
                merged(old, young),
                List.copyOf(notes)));
    }

    private static void note(List<String> notes, String what, Object before, Object after) {
        if (!before.equals(after)) {
            notes.add("%s: %s, was %s".formatted(what, after, before));
        }
    }

    private static String clients(Side side) {
        return side.stream().isEveryoneElse()
                ? "everyone else"
                : side.stream().clients().stream()
                        .map(IPAddress::toCanonicalString)
                        .collect(Collectors.joining(" "));
    }

    private static List<PoolPlan.Row> rows(Optional<Side> side) {
        List<Answer> answers = side.map(known -> known.stream().answers()).orElse(List.of());
        return StatusQuo.rows(answers);
    }

    private static Map<IPAddress, Integer> weights(List<PoolPlan.Row> rows) {
        return rows.stream().collect(Collectors.toMap(PoolPlan.Row::address, PoolPlan.Row::weight));
    }

    private static List<Row> merged(List<PoolPlan.Row> before, List<PoolPlan.Row> after) {
        Map<IPAddress, PoolPlan.Row> old = byAddress(before);
        Map<IPAddress, PoolPlan.Row> young = byAddress(after);
        SortedSet<IPAddress> addresses = new TreeSet<>(ORDER);
        addresses.addAll(old.keySet());
        addresses.addAll(young.keySet());
        return addresses.stream()
                .map(address -> {
                    Optional<PoolPlan.Row> was = Optional.ofNullable(old.get(address));
                    Optional<PoolPlan.Row> is = Optional.ofNullable(young.get(address));
                    return new Row(
                            address,
                            Objects.requireNonNull(
                                    is.or(() -> was).map(PoolPlan.Row::replica).orElse("")),
                            was.map(row -> new Weight(row.weight(), row.share())),
                            is.map(row -> new Weight(row.weight(), row.share())));
                })
                .toList();
    }

    private static Map<IPAddress, PoolPlan.Row> byAddress(List<PoolPlan.Row> rows) {
        Map<IPAddress, PoolPlan.Row> byAddress = new HashMap<>();
        rows.forEach(row -> byAddress.put(row.address(), row));
        return byAddress;
    }
}
