package dev.apportion.dns.externaldns;

import dev.apportion.dns.ClientStreams;
import dev.apportion.records.Answer;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The LUA record of a host at PowerDNS: for each family a program that draws one address by weight, from the stream whose
 * block with the longest prefix holds the client. The client is the one of EDNS Client Subnet (RFC 7871) where PowerDNS
 * processes it, else whoever asks.
 *
 * <p>Nothing of a resource gets into the program but canonical addresses, blocks and numbers.
 */
final class LuaRecord {

    /** The octets of one character string (RFC 1035, section 3.3). */
    private static final int MOST_STRING = 255;

    private LuaRecord() {}

    static Optional<Endpoint> of(Host host) {
        List<String> targets = new ArrayList<>();
        for (boolean ipv6 : new boolean[] {false, true}) {
            if (host.streams().stream()
                    .anyMatch(stream -> stream.answers(ipv6).findAny().isPresent())) {
                targets.add((ipv6 ? "AAAA " : "A ") + quoted(program(host, ipv6)));
            }
        }
        return targets.isEmpty()
                ? Optional.empty()
                : Optional.of(new Endpoint(host.name(), "LUA", targets, host.ttlSeconds(), Optional.empty()));
    }

    /** Blocks of one length and stream: they are told from all others by one test. */
    private record Test(int prefixLength, int stream) {}

    private static String program(Host host, boolean ipv6) {
        List<HostStream> streams = ClientStreams.inOrder(host);
        if (streams.size() == 1 && streams.getFirst().isEveryoneElse()) {
            return draw(streams.getFirst(), ipv6);
        }
        Map<Test, List<IPAddress>> tests = new TreeMap<>(
                Comparator.comparingInt(Test::prefixLength).reversed().thenComparingInt(Test::stream));
        for (int i = 0; i < streams.size(); i++) {
            for (IPAddress block : streams.get(i).clients()) {
                tests.computeIfAbsent(new Test(ClientStreams.prefixLength(block), i), test -> new ArrayList<>())
                        .add(block);
            }
        }
        // A program that is more than one expression starts with a semicolon.
        StringBuilder program = new StringBuilder(";");
        tests.forEach((test, blocks) -> program.append("if netmask({")
                .append(blocks.stream().map(LuaRecord::text).collect(Collectors.joining(",")))
                .append("}) then return ")
                .append(draw(streams.get(test.stream()), ipv6))
                .append(" end "));
        return program.append("return ")
                .append(streams.stream()
                        .filter(HostStream::isEveryoneElse)
                        .findFirst()
                        .map(stream -> draw(stream, ipv6))
                        .orElse("{}"))
                .toString();
    }

    private static String draw(HostStream stream, boolean ipv6) {
        List<Answer> answers = stream.answers(ipv6).toList();
        return answers.isEmpty()
                ? "{}"
                : answers.stream()
                        .map(answer -> "{%d,%s}".formatted(answer.weight(), text(answer.address())))
                        .collect(Collectors.joining(",", "pickwrandom({", "})"));
    }

    private static String text(IPAddress address) {
        return "'" + address.toCanonicalString() + "'";
    }

    /** PowerDNS puts a space between the character strings of a program, so they end where one changes nothing. */
    private static String quoted(String program) {
        List<String> strings = new ArrayList<>();
        int from = 0;
        while (program.length() - from > MOST_STRING) {
            int to = program.lastIndexOf(',', from + MOST_STRING - 1) + 1;
            strings.add(program.substring(from, to));
            from = to;
        }
        strings.add(program.substring(from));
        return strings.stream().map("\"%s\""::formatted).collect(Collectors.joining(" "));
    }
}
