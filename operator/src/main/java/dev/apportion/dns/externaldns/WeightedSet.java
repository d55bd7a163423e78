package dev.apportion.dns.externaldns;

import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import java.util.List;
import java.util.Optional;

/**
 * The weighted sets of a host at Route 53: a record for each address, also where there is one only, since a record that was
 * written without a weight can never get one. A record is named by its address: whatever becomes of the replica's name or of
 * its neighbours, it stays the same record.
 */
final class WeightedSet {

    private static final int MOST_WEIGHT = 255;

    private WeightedSet() {}

    static List<Endpoint> of(Host host) {
        if (host.streams().size() > 1 || host.streams().stream().anyMatch(stream -> !stream.isEveryoneElse())) {
            throw new IllegalArgumentException(
                    "%s has streams of certain clients, which Route 53 cannot tell apart here".formatted(host.name()));
        }
        return host.streams().stream()
                .flatMap(stream -> {
                    check(host, stream, false);
                    check(host, stream, true);
                    return stream.answers().stream();
                })
                .map(answer -> endpoint(host, answer))
                .toList();
    }

    private static void check(Host host, HostStream stream, boolean ipv6) {
        long members = stream.answers(ipv6).count();
        if (members > Dialect.MOST_MEMBERS) {
            throw new IllegalArgumentException(
                    "%s has %d %s addresses, Route 53 takes %d in a weighted set; maybe set maxReplicas"
                            .formatted(host.name(), members, ipv6 ? "IPv6" : "IPv4", Dialect.MOST_MEMBERS));
        }
    }

    private static Endpoint endpoint(Host host, Answer answer) {
        if (answer.weight() < 1 || answer.weight() > MOST_WEIGHT) {
            throw new IllegalArgumentException("the weight %d of %s for %s is not within 1 and %d"
                    .formatted(answer.weight(), answer.address(), host.name(), MOST_WEIGHT));
        }
        String address = answer.address().toCanonicalString();
        return new Endpoint(
                host.name(),
                answer.address().isIPv6() ? "AAAA" : "A",
                List.of(address),
                host.ttlSeconds(),
                Optional.of(new Endpoint.Member(address, answer.weight())));
    }
}
