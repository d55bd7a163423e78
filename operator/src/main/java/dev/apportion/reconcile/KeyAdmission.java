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

    /** Judges the keys of a stream that is admitted but for them. */
    Judged<AdmittedStream> judge(Judged<AdmittedStream> judged, AdmittedService service, AdmittedZone zone) {
        AdmittedStream stream = judged.value().orElseThrow();
        List<AdmittedStream.Key> kept = new ArrayList<>();
        Refusals refusals = new Refusals();
        for (AdmittedStream.Key key : stream.keys().orElse(List.of())) {
            switch (DomainNames.parse(key.name())) {
                case Parsed.Invalid<String>(String problem) -> refusals.invalid.add(problem);
                case Parsed.Value<String>(String name) -> {
                    String host = name + "." + service.hostname();
                    Optional<String> impossible = impossible(name, host, zone);
                    Optional<String> taken = impossible.isPresent() ? Optional.empty() : taken(host, zone);
                    impossible.ifPresent(refusals.invalid::add);
                    taken.ifPresent(refusals.taken::add);
                    if (impossible.isEmpty() && taken.isEmpty()) {
                        owners.put(host, stream.ref());
                        kept.add(new AdmittedStream.Key(name, key.rate()));
                    }
                }
            }
        }
        AdmittedStream admitted = stream.withKeys(kept);
        List<Finding> findings = new ArrayList<>(judged.findings());
        findings.removeIf(finding -> finding.type().equals(Finding.ACCEPTED));
        findings.add(accepted(kept.size(), refusals));
        return new Judged<>(Optional.of(admitted), findings);
    }

    private static Finding accepted(int kept, Refusals refusals) {
        List<String> all = new ArrayList<>(refusals.invalid);
        all.addAll(refusals.taken);
        if (all.isEmpty()) {
            return Finding.yes(
                    Finding.ACCEPTED, "Accepted", "the specification is valid; it has %d keys".formatted(kept));
        }
        return Finding.no(
                Finding.ACCEPTED,
                refusals.invalid.isEmpty() ? "HostConflict" : "InvalidSpec",
                "spec.keys: %s%s; %d of %d keys are left out, the others go on"
                        .formatted(
                                all.stream().limit(SHOWN).collect(Collectors.joining("; ")),
                                all.size() > SHOWN ? "; and %d more".formatted(all.size() - SHOWN) : "",
                                all.size(),
                                all.size() + kept));
    }

    private static Optional<String> impossible(String name, String host, AdmittedZone zone) {
        if (ServiceAdmission.isReserved(name)) {
            return Optional.of("%s: the labels _s and _p are reserved".formatted(name));
        }
        if (host.length() > LONGEST_NAME) {
            return Optional.of("%s has %d characters, %d are possible".formatted(host, host.length(), LONGEST_NAME));
        }
        int slots = SLOT_CHARACTERS + name.length() + zone.domain().length();
        return slots > LONGEST_NAME
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
