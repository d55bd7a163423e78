package dev.apportion.dns;

import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Which clients belong to which stream of a host: the longest prefix decides. */
public final class ClientStreams {

    /** Addresses that nobody has (RFC 5737, RFC 3849), and some that no list of blocks is likely to name together. */
    private static final List<IPAddress> SOMEWHERE = Stream.of(
                    "192.0.2.1", "198.51.100.1", "203.0.113.1", "240.0.0.1", "2001:db8::1", "3fff::1", "100::1")
            .map(text -> new IPAddressString(text).getAddress())
            .toList();

    private ClientStreams() {}

    /** The streams in the order in which they are tried: those that name clients by label, then everyone else. */
    public static List<HostStream> inOrder(Host host) {
        return host.streams().stream()
                .sorted(Comparator.comparing(HostStream::isEveryoneElse))
                .toList();
    }

    /** The stream of a client; nothing if no stream names it and none takes everyone else. */
    public static Optional<HostStream> of(Host host, IPAddress client) {
        HostStream best = null;
        int longest = -1;
        for (HostStream stream : inOrder(host)) {
            for (IPAddress block : stream.clients()) {
                if (isWithin(client, block) && prefixLength(block) > longest) {
                    best = stream;
                    longest = prefixLength(block);
                }
            }
            if (stream.isEveryoneElse() && best == null) {
                best = stream;
            }
        }
        return Optional.ofNullable(best);
    }

    /** The blocks of other streams of the host that lie strictly within a block of a stream, sorted. */
    public static List<IPAddress> exclusions(Host host, HostStream stream, IPAddress block) {
        return host.streams().stream()
                .filter(other -> !other.label().equals(stream.label()))
                .flatMap(other -> other.clients().stream())
                .filter(inner -> isWithin(inner, block) && prefixLength(inner) > prefixLength(block))
                .sorted()
                .distinct()
                .toList();
    }

    /** A client of a stream; nothing where none is found, since others have all of its blocks. */
    public static Optional<IPAddress> example(Host host, HostStream stream) {
        Stream<IPAddress> candidates = stream.isEveryoneElse()
                ? SOMEWHERE.stream()
                : stream.clients().stream()
                        .map(IPAddress::toPrefixBlock)
                        .flatMap(block -> Stream.of(block.getUpper(), block.getLower()))
                        .map(IPAddress::withoutPrefixLength);
        return candidates
                .filter(client -> of(host, client).filter(stream::equals).isPresent())
                .findFirst();
    }

    /** The length of a block's prefix, in bits; a single address is a block of one. */
    public static int prefixLength(IPAddress block) {
        Integer length = block.getNetworkPrefixLength();
        return length == null ? block.getBitCount() : length;
    }

    private static boolean isWithin(IPAddress inner, IPAddress block) {
        return inner.isIPv6() == block.isIPv6() && block.toPrefixBlock().contains(inner.toPrefixBlock());
    }
}
