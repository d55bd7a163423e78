package dev.apportion.records;

import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What is different between two states of a zone.
 *
 * @param added the hosts that only the later state has, sorted
 * @param removed the hosts that only the earlier state has, sorted
 * @param changed the hosts that differ in any way, sorted
 * @param streams the streams of those hosts whose shares differ, by host and label
 * @param zoneChanged whether anything else differs: times to live, name servers, fixed records
 */
public record Changes(
        List<String> added,
        List<String> removed,
        List<String> changed,
        List<StreamChange> streams,
        boolean zoneChanged) {

    /**
     * What is different in one stream.
     *
     * @param host the host name
     * @param label the label of the stream
     * @param movedPercent how much of its traffic goes to another address than before, in percent: the larger one of the
     *     two families
     */
    public record StreamChange(String host, String label, double movedPercent) {}

    /** The difference between an earlier state and a later one of the same domain. */
    public static Changes between(ZoneRecords before, ZoneRecords after) {
        Map<String, Host> earlier = byName(before.hosts(), Host::name);
        Map<String, Host> later = byName(after.hosts(), Host::name);
        List<String> added = new ArrayList<>();
        List<String> changed = new ArrayList<>();
        List<StreamChange> streams = new ArrayList<>();
        for (Host host : after.hosts()) {
            Host old = earlier.get(host.name());
            if (old == null) {
                added.add(host.name());
            } else if (!old.equals(host)) {
                changed.add(host.name());
                streams.addAll(streams(old, host));
            }
        }
        List<String> removed = before.hosts().stream()
                .map(Host::name)
                .filter(name -> !later.containsKey(name))
                .toList();
        return new Changes(
                added,
                removed,
                List.copyOf(changed),
                List.copyOf(streams),
                !before.withHosts(List.of()).equals(after.withHosts(List.of())));
    }

    public boolean isEmpty() {
        return added.isEmpty() && removed.isEmpty() && changed.isEmpty() && !zoneChanged;
    }

    /** The largest part of a stream's traffic that moves, in percent. */
    public double mostMovedPercent() {
        return streams.stream().mapToDouble(StreamChange::movedPercent).max().orElse(0);
    }

    private static List<StreamChange> streams(Host before, Host after) {
        Map<String, HostStream> earlier = byName(before.streams(), HostStream::label);
        List<StreamChange> changes = new ArrayList<>();
        for (HostStream stream : after.streams()) {
            HostStream old = earlier.get(stream.label());
            double moved =
                    old == null ? 100 : Math.max(movedPercent(old, stream, false), movedPercent(old, stream, true));
            if (moved > 0) {
                changes.add(new StreamChange(after.name(), stream.label(), moved));
            }
        }
        return changes;
    }

    /** The total variation distance between the two distributions over addresses. */
    private static double movedPercent(HostStream before, HostStream after, boolean ipv6) {
        Map<IPAddress, Double> earlier = shares(before, ipv6);
        Map<IPAddress, Double> later = shares(after, ipv6);
        if (earlier.isEmpty() || later.isEmpty()) {
            return earlier.isEmpty() && later.isEmpty() ? 0 : 100;
        }
        double gained = 0;
        for (Map.Entry<IPAddress, Double> share : later.entrySet()) {
            gained += Math.max(0, share.getValue() - earlier.getOrDefault(share.getKey(), 0.0));
        }
        return gained * 100;
    }

    private static Map<IPAddress, Double> shares(HostStream stream, boolean ipv6) {
        double sum = stream.answers(ipv6).mapToDouble(Answer::weight).sum();
        Map<IPAddress, Double> shares = new HashMap<>();
        stream.answers(ipv6).forEach(answer -> shares.merge(answer.address(), answer.weight() / sum, Double::sum));
        return shares;
    }

    private static <T> Map<String, T> byName(List<T> values, Function<T, String> name) {
        return values.stream().collect(Collectors.toMap(name, Function.identity(), (first, second) -> first));
    }
}
