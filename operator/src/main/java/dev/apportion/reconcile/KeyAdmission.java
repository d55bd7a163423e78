package dev.apportion.reconcile;

import dev.apportion.dns.ServedNames;
import dev.apportion.records.DomainNames;
import dev.apportion.records.Parsed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Gives keys their names, stream by stream. A key whose name is not possible or not free is left out, so that one of
 * thousands does not take the others from DNS.
 */
final class KeyAdmission {

    /** How many keys a message lists before it only counts. */
    private static final int SHOWN = 4;

    /** The most characters of a host name (RFC 1035, section 2.3.4). */
    private static final int LONGEST_NAME = 253;

    /** The digits of a slot, what separates them from the key, the label of the stream and the shard, with their dots. */
    private static final int SLOT_CHARACTERS = 8 + 3 + 1 + HostLabel.MAX_LENGTH + 1 + "s9999._s.".length();

    private final Function<String, @Nullable AdmittedZone> closest;
    private final Function<String, @Nullable AdmittedService> hosts;
    private final Map<String, Ref> owners = new HashMap<>();

    /**
     * An admission that knows of no keys yet.
     *
     * @param closest the zone that a name belongs to
     * @param hosts the service that has a host name
     */
    KeyAdmission(Function<String, @Nullable AdmittedZone> closest, Function<String, @Nullable AdmittedService> hosts) {
        this.closest = closest;
        this.hosts = hosts;
    }

    /** Why keys are left out. */
    private static final class Refusals {
        private final List<String> invalid = new ArrayList<>();
        private final List<String> taken = new ArrayList<>();
    }

    /** Judges the keys of a stream that is admitted but for them. Where nothing is known of them the stream is not admitted. */
    Judged<AdmittedStream> judge(
            Judged<AdmittedStream> judged, KeySource source, AdmittedService service, AdmittedZone zone) {
        List<Finding> findings = new ArrayList<>(judged.findings());
        Optional<AdmittedStream> admitted = source.keys().map(declared -> {
            Refusals refusals = new Refusals();
            AdmittedStream stream = judged.value().orElseThrow();
            List<AdmittedStream.Key> kept = kept(declared, stream.ref(), service, zone, refusals);
            replace(findings, accepted(kept.size(), declared, refusals));
            return stream.withKeys(kept);
        });
        source.problem().ifPresent(problem -> replace(findings, problem));
        return new Judged<>(admitted, findings);
    }

    private static void replace(List<Finding> findings, Finding finding) {
        findings.removeIf(other -> other.type().equals(finding.type()));
        findings.add(finding);
    }

    private List<AdmittedStream.Key> kept(
            DeclaredKeys declared, Ref stream, AdmittedService service, AdmittedZone zone, Refusals refusals) {
        List<AdmittedStream.Key> kept = new ArrayList<>();
        Map<String, Integer> lines = new HashMap<>();
        for (DeclaredKeys.Key key : declared.keys()) {
            switch (DomainNames.parse(key.name())) {
                case Parsed.Invalid<String>(String problem) -> refusals.invalid.add(key.place() + problem);
                case Parsed.Value<String>(String name) -> {
                    String host = name + "." + service.hostname();
                    Optional<String> impossible = repeated(key, name, lines).or(() -> impossible(name, host, zone));
                    Optional<String> taken = impossible.isPresent() ? Optional.empty() : taken(host, zone);
                    impossible.map(key.place()::concat).ifPresent(refusals.invalid::add);
                    taken.map(key.place()::concat).ifPresent(refusals.taken::add);
                    if (impossible.isEmpty() && taken.isEmpty()) {
                        owners.put(host, stream);
                        kept.add(new AdmittedStream.Key(name, key.rate()));
                    }
                }
            }
        }
        return kept;
    }

    private static Optional<String> repeated(DeclaredKeys.Key key, String name, Map<String, Integer> lines) {
        Integer first = key.line() == 0 ? null : lines.putIfAbsent(name, key.line());
        return Optional.ofNullable(first)
                .map(line -> "%s stands in line %d already, which counts; maybe delete one of the two"
                        .formatted(name, line));
    }

    private static Finding accepted(int kept, DeclaredKeys declared, Refusals refusals) {
        List<String> all = new ArrayList<>(declared.problems());
        all.addAll(refusals.invalid);
        all.addAll(refusals.taken);
        int left = declared.refused() + refusals.invalid.size() + refusals.taken.size();
        if (left == 0) {
            return Finding.yes(
                    Finding.ACCEPTED, "Accepted", "the specification is valid; it has %d keys".formatted(kept));
        }
        return Finding.no(
                Finding.ACCEPTED,
                left == refusals.taken.size() ? "HostConflict" : "InvalidSpec",
                "spec.keys: %s%s; %d of %d keys are left out, the others go on"
                        .formatted(
                                all.stream().limit(SHOWN).collect(Collectors.joining("; ")),
                                left > SHOWN ? "; and %d more".formatted(left - SHOWN) : "",
                                left,
                                left + kept));
    }

    private static Optional<String> impossible(String name, String host, AdmittedZone zone) {
        if (ServiceAdmission.isReserved(name)) {
            return Optional.of("%s: the labels _s and _p are reserved".formatted(name));
        }
        Optional<String> tooLong = zone.whyTooLong(host);
        if (tooLong.isPresent()) {
            return tooLong;
        }
        if (host.length() > LONGEST_NAME) {
            return Optional.of("%s has %d characters, %d are possible".formatted(host, host.length(), LONGEST_NAME));
        }
        int slots = SLOT_CHARACTERS + name.length() + zone.domain().length();
        return slots > LONGEST_NAME && zone.backEnd() instanceof AdmittedZone.CoreDns
                ? Optional.of("%s has %d characters, %d are possible: longer names stand in front of it"
                        .formatted(name, name.length(), name.length() - (slots - LONGEST_NAME)))
                : Optional.empty();
    }

    private Optional<String> taken(String host, AdmittedZone zone) {
        AdmittedService service = hosts.apply(host);
        if (service != null) {
            return Optional.of("%s is the host name of the TrafficService %s".formatted(host, service.ref()));
        }
        Ref older = owners.get(host);
        if (older != null) {
            return Optional.of("%s is a key of the TrafficStream %s already".formatted(host, older));
        }
        AdmittedZone closer = closest.apply(host);
        if (closer != null && !closer.ref().equals(zone.ref())) {
            return Optional.of(
                    "%s belongs to %s, the domain of the DNSZone %s".formatted(host, closer.domain(), closer.ref()));
        }
        return ServedNames.isWithin(host, ServedNames.slots(zone.domain()))
                ? Optional.of("%s is within the names of slots".formatted(host))
                : ServiceAdmission.inZone(host, zone);
    }
}
