package dev.apportion.dns.coredns;

import dev.apportion.dns.ClientStreams;
import dev.apportion.dns.ServedNames;
import dev.apportion.dns.Slots;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import dev.apportion.records.ZoneRecords;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The server blocks of a zone, as text.
 *
 * <p>Each stream of a host has a block whose view lets in the host name, asked by the stream's clients, and the stream's
 * probe names. Everything else below the host passes by and reaches the block of the domain, which knows from its file
 * what exists and what does not, and with which serial. Blocks with a view may share a name, so no two hosts can ever
 * keep CoreDNS from starting.
 *
 * <p>Keys are many, so they have no blocks of their own: those of a host that stand in one shard share a block, whose view
 * lists them, and whose alias takes the key from the question.
 */
final class ServerBlocks {

    static final String NOTICE = "Written by Apportion; changes made here are overwritten.";

    /** How often CoreDNS looks for new zone and weight files. */
    private static final String RELOAD = "200ms";

    private final ZoneRecords zone;
    private final String directory;
    private final ShardKeys keys;
    private final StringBuilder text = new StringBuilder(1 << 12);

    ServerBlocks(ZoneRecords zone, String directory, ShardKeys keys) {
        this.zone = zone;
        this.directory = directory;
        this.keys = keys;
        line("# " + NOTICE);
    }

    @Override
    public String toString() {
        return text.toString();
    }

    /** The blocks of hosts below the domain, and of the zone that holds their slots; not those of keys of the domain. */
    ServerBlocks hosts(List<Host> hosts) {
        hosts.stream().filter(host -> !host.isKey()).forEach(this::host);
        keys(hosts.stream().filter(host -> host.isKey() && !isKeyOfDomain(host)).toList());
        line(ServedNames.slotZone(zone.domain(), keys.shard()) + " {");
        if (zone.answers() == Answers.List) {
            weighted(keys.weights());
        }
        file(keys.zone());
        line("}");
        return this;
    }

    /** The blocks of keys of the domain. They have to stand before the domain's own, the last of which has no view. */
    ServerBlocks keysOfDomain(List<Host> hosts) {
        keys(hosts.stream().filter(this::isKeyOfDomain).toList());
        return this;
    }

    boolean isKeyOfDomain(Host host) {
        return host.under().filter(zone.domain()::equals).isPresent();
    }

    private void keys(List<Host> hosts) {
        Map<Keys, List<Host>> alike = new TreeMap<>();
        hosts.forEach(host -> alike.computeIfAbsent(Keys.of(host), absent -> new ArrayList<>())
                .add(host));
        alike.forEach(this::keys);
    }

    /** The blocks of the domain itself. */
    ServerBlocks domain(Optional<Host> apex, Edition edition) {
        text.append(edition.text());
        apex.ifPresent(host -> ClientStreams.inOrder(host).forEach(stream -> apexStream(host, stream)));
        if (apex.stream().flatMap(host -> host.streams().stream()).noneMatch(HostStream::isEveryoneElse)) {
            line(zone.domain() + " {");
            file(keys.domainZone());
            line("}");
        }
        return this;
    }

    private void host(Host host) {
        for (HostStream stream : ClientStreams.inOrder(host)) {
            line(host.name() + " {");
            String itself = "name() == '%s.'".formatted(host.name());
            view(
                    stream.label(),
                    stream.isEveryoneElse()
                            ? itself + " || " + isProbe(host, stream)
                            : itself + " ? " + isClient(host, stream) + " : " + isProbe(host, stream));
            line("  template IN ANY {");
            line("    answer \"" + alias(host, stream) + "\"");
            line("    upstream");
            line("  }");
            line("}");
        }
    }

    /** Keys that are answered alike but for their slots. */
    private record Keys(String under, String label, int ttlSeconds) implements Comparable<Keys> {

        private static final Comparator<Keys> ORDER =
                Comparator.comparing(Keys::under).thenComparing(Keys::label).thenComparingInt(Keys::ttlSeconds);

        static Keys of(Host host) {
            return new Keys(
                    host.under().orElseThrow(), host.streams().getFirst().label(), host.ttlSeconds());
        }

        @Override
        public int compareTo(Keys other) {
            return ORDER.compare(this, other);
        }
    }

    private void keys(Keys some, List<Host> hosts) {
        line(some.under() + " {");
        // A list of constants is looked up, not searched; without spaces it is one word of the configuration.
        view(
                some.label(),
                "name() in "
                        + hosts.stream()
                                .map(host -> "'" + host.name() + ".'")
                                .collect(Collectors.joining(",", "[", "]")));
        String slots = some.label() + "." + ServedNames.slotZone(zone.domain(), keys.shard());
        line("  template IN ANY {");
        line("    match ^(?P<key>.+)[.]" + some.under().replace(".", "[.]") + "[.]$");
        line("    answer \"" + alias(some.ttlSeconds(), ServedNames.SLOTS + ".{{ .Group.key }}." + slots) + "\"");
        line("    upstream");
        line("  }");
        line("}");
    }

    private String alias(Host host, HostStream stream) {
        return alias(host.ttlSeconds(), ServedNames.slotsOf(host, stream, zone.domain(), keys.shard()));
    }

    private String alias(int ttlSeconds, String slots) {
        return switch (zone.answers()) {
            case Single ->
                "{{ $h := printf `%%04x` .Message.Id }}{{ .Name }} %d IN CNAME {{ slice $h 0 1 }}.{{ slice $h 2 3 }}.{{ slice $h 1 2 }}.{{ slice $h 3 4 }}.%s."
                        .formatted(ttlSeconds, slots);
            case List -> "{{ .Name }} %d IN CNAME %s.".formatted(ttlSeconds, slots);
            case Drawn -> throw ShardRendering.drawn(zone);
        };
    }

    private void apexStream(Host host, HostStream stream) {
        line(host.name() + " {");
        if (!stream.isEveryoneElse()) {
            view(
                    stream.label(),
                    "name() == '%s.' || name() endsWith '.%s.' ? %s : %s"
                            .formatted(
                                    ServedNames.probes(host.name()),
                                    ServedNames.probes(host.name()),
                                    isProbe(host, stream),
                                    isClient(host, stream)));
        }
        switch (zone.answers()) {
            case Single -> {
                thresholds(host, stream, false);
                thresholds(host, stream, true);
                file(keys.domainZone());
            }
            case List -> {
                weighted(keys.apexWeights(stream.label()));
                file(keys.apexZone(stream.label()));
            }
            case Drawn -> throw ShardRendering.drawn(zone);
        }
        line("}");
    }

    /** A domain cannot be an alias, so the runs of slots stand in the configuration. */
    private void thresholds(Host host, HostStream stream, boolean ipv6) {
        List<Slots.Run> runs = Slots.runs(stream, ipv6);
        if (runs.isEmpty()) {
            return;
        }
        String type = ipv6 ? "AAAA" : "A";
        StringBuilder choice = new StringBuilder();
        for (Slots.Run run : runs) {
            String address = ZoneText.address(run.answer().address());
            if (run.to() == Slots.COUNT) {
                choice.append(runs.size() == 1 ? address : "{{ else }}" + address + "{{ end }}");
            } else {
                choice.append(choice.isEmpty() ? "{{ if" : "{{ else if")
                        .append(" lt $s `%04x` }}".formatted(run.to()))
                        .append(address);
            }
        }
        line("  template IN " + type + " {");
        line("    match ^((.*[.])?_p[.])?" + host.name().replace(".", "[.]") + "[.]$");
        line("    answer \"{{ $h := printf `%04x` .Message.Id }}{{ $s := printf `%s%s%s%s` (slice $h 3 4) (slice $h"
                + " 1 2) (slice $h 2 3) (slice $h 0 1) }}{{ .Name }} "
                + host.ttlSeconds() + " IN " + type + " " + choice + "\"");
        line("    fallthrough");
        line("  }");
    }

    private static String isProbe(Host host, HostStream stream) {
        String probes = stream.isEveryoneElse()
                ? ServedNames.probes(host.name())
                : ServedNames.probesOf(stream.label(), host.name());
        return "name() == '%s.' || name() endsWith '.%s.'".formatted(probes, probes);
    }

    private static String isClient(Host host, HostStream stream) {
        List<String> blocks = new ArrayList<>();
        for (IPAddress block : stream.clients()) {
            StringBuilder expression = new StringBuilder(isWithin(block));
            for (IPAddress exclusion : ClientStreams.exclusions(host, stream, block)) {
                expression.append(" && !").append(isWithin(exclusion));
            }
            blocks.add(expression.toString());
        }
        return "(" + String.join(" || ", blocks) + ")";
    }

    private static String isWithin(IPAddress block) {
        return "incidr(client_ip(), '%s/%d')"
                .formatted(
                        block.toPrefixBlock().getLower().withoutPrefixLength().toCanonicalString(),
                        ClientStreams.prefixLength(block));
    }

    private void view(String name, String expression) {
        line("  view " + name + " {");
        line("    expr " + expression);
        line("  }");
    }

    private void file(String key) {
        line("  file " + directory + "/" + key + " {");
        line("    reload " + RELOAD);
        line("  }");
    }

    private void weighted(String key) {
        line("  loadbalance weighted " + directory + "/" + key + " {");
        line("    reload " + RELOAD);
        line("  }");
    }

    private void line(String line) {
        text.append(line).append('\n');
    }
}
