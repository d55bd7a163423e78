package dev.apportion.reconcile;

import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficServiceSpec;
import dev.apportion.dns.ServedNames;
import dev.apportion.records.DomainNames;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.Parsed;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Judges TrafficServices, given the verdicts on the zones, the pools and the older services. Pure. */
final class ServiceAdmission {

    /** Labels under which slots and probe names stand. */
    private static final Set<String> RESERVED = Set.of("_s", "_p");

    /**
     * The longest host name, so that the names below it under which each of its streams is asked are no longer than RFC 1035
     * allows: 253 characters, of which the first label takes two.
     */
    static final int LONGEST_HOST =
            253 - 2 - ServedNames.probesOf("x".repeat(HostLabel.MAX_LENGTH), "").length();

    private ServiceAdmission() {}

    /** Says whether a name has a label under which slots or probe names stand. */
    static boolean isReserved(String name) {
        return Arrays.stream(name.split("\\.")).anyMatch(RESERVED::contains);
    }

    static Optional<String> hostname(TrafficService service) {
        return host(service).value();
    }

    static Optional<Ref> zone(TrafficService service) {
        return Optional.ofNullable(service.getSpec()).map(spec -> zone(service, spec));
    }

    /** The pool that a service refers to. */
    static Optional<Ref> pool(TrafficService service) {
        return Optional.ofNullable(service.getSpec())
                .map(spec -> new Ref(
                        service.getMetadata().getNamespace(), spec.poolRef().name()));
    }

    private static Ref zone(TrafficService service, TrafficServiceSpec spec) {
        String namespace = spec.zoneRef().namespace();
        return new Ref(
                namespace == null ? service.getMetadata().getNamespace() : namespace,
                spec.zoneRef().name());
    }

    /** The canonical host name of a service, or why it is none. */
    static Judged<String> host(TrafficService service) {
        return service.getSpec() == null
                ? Judged.rejected("Unreadable", Admission.unreadable(service))
                : switch (DomainNames.parse(service.getSpec().hostname())) {
                    case Parsed.Value<String>(String name) -> Judged.admitted(name);
                    case Parsed.Invalid<String>(String problem) ->
                        Judged.rejected("InvalidSpec", "spec.hostname: " + problem);
                };
    }

    static Judged<AdmittedService> judge(
            TrafficService service,
            Judged<String> hostname,
            Map<Ref, Judged<AdmittedZone>> zones,
            Map<Ref, Judged<AdmittedPool>> pools,
            Function<String, @Nullable AdmittedZone> closest,
            Function<String, @Nullable AdmittedService> owner,
            Function<String, Map<String, String>> namespaceLabels) {
        TrafficServiceSpec spec = service.getSpec();
        if (spec == null || hostname.value().isEmpty()) {
            return new Judged<>(Optional.empty(), hostname.findings());
        }
        Ref zoneRef = zone(service, spec);
        Judged<AdmittedZone> zone = zones.get(zoneRef);
        if (zone == null) {
            return Judged.unresolved(
                    "ZoneNotFound",
                    "there is no DNSZone %s; maybe spec.zoneRef.namespace is missing".formatted(zoneRef));
        }
        return zone.value()
                .map(admitted -> judge(
                        Ref.of(service),
                        spec,
                        hostname.value().get(),
                        admitted,
                        pools,
                        closest,
                        owner,
                        namespaceLabels))
                .orElseGet(() -> Judged.unresolved(
                        "ZoneNotAccepted", "the DNSZone %s is itself not accepted".formatted(zoneRef)));
    }

    private static Judged<AdmittedService> judge(
            Ref ref,
            TrafficServiceSpec spec,
            String host,
            AdmittedZone zone,
            Map<Ref, Judged<AdmittedPool>> pools,
            Function<String, @Nullable AdmittedZone> closest,
            Function<String, @Nullable AdmittedService> owner,
            Function<String, Map<String, String>> namespaceLabels) {
        if (!DomainNames.isWithin(host, zone.domain())) {
            return Judged.rejected(
                    "HostOutsideZone",
                    "the host name %s is not within %s, the domain of the DNSZone %s"
                            .formatted(host, zone.domain(), zone.ref()));
        }
        AdmittedZone closer = closest.apply(host);
        if (closer != null && !closer.ref().equals(zone.ref())) {
            return Judged.rejected(
                    "CloserZone",
                    "the host name %s belongs to %s, the domain of the DNSZone %s; maybe spec.zoneRef means that one"
                            .formatted(host, closer.domain(), closer.ref()));
        }
        if (!zone.allows().test(new AdmittedZone.Namespace(ref.namespace(), namespaceLabels.apply(ref.namespace())))) {
            return Judged.rejected(
                    "NotAllowedByZone",
                    "the DNSZone %s does not let the namespace %s publish; its spec.allowedNamespaces says who may"
                            .formatted(zone.ref(), ref.namespace()));
        }
        if (isReserved(host)) {
            return Judged.rejected("InvalidSpec", "spec.hostname: the labels _s and _p are reserved");
        }
        if (host.length() > LONGEST_HOST) {
            return Judged.rejected(
                    "InvalidSpec",
                    "spec.hostname: %s has %d characters, %d are possible: names of probes stand below it"
                            .formatted(host, host.length(), LONGEST_HOST));
        }
        Optional<String> notForBackEnd = notForBackEnd(spec, host, zone);
        if (notForBackEnd.isPresent()) {
            return Judged.rejected("InvalidSpec", notForBackEnd.get());
        }
        AdmittedService older = owner.apply(host);
        if (older != null) {
            return Judged.rejected(
                    "HostConflict",
                    "the host name %s belongs to the older TrafficService %s".formatted(host, older.ref()));
        }
        Optional<String> inZone = inZone(host, zone);
        if (inZone.isPresent()) {
            return Judged.rejected("HostConflict", inZone.get());
        }
        Ref poolRef = new Ref(ref.namespace(), spec.poolRef().name());
        AdmittedService admitted = new AdmittedService(
                ref,
                host,
                zone.ref(),
                poolRef,
                spec.maxReplicas() == null ? OptionalInt.empty() : OptionalInt.of(spec.maxReplicas()),
                spec.ttlSeconds() == null ? zone.ttlSeconds() : spec.ttlSeconds(),
                spec.paused());
        Judged<AdmittedPool> pool = pools.get(poolRef);
        if (pool == null) {
            return Judged.admittedUnresolved(admitted, "PoolNotFound", "there is no ReplicaPool %s".formatted(poolRef));
        }
        return pool.value().isPresent()
                ? Judged.admitted(admitted)
                : Judged.admittedUnresolved(
                        admitted, "PoolNotAccepted", "the ReplicaPool %s is itself not accepted".formatted(poolRef));
    }

    /** What a zone's provider cannot bear, if something is. */
    private static Optional<String> notForBackEnd(TrafficServiceSpec spec, String host, AdmittedZone zone) {
        Optional<String> tooLong = zone.whyTooLong(host).map(problem -> "spec.hostname: " + problem);
        if (tooLong.isPresent()) {
            return tooLong;
        }
        OptionalInt most = zone.mostReplicas();
        return most.isPresent() && spec.maxReplicas() != null && spec.maxReplicas() > most.getAsInt()
                ? Optional.of("spec.maxReplicas: %d, but a weighted set of Route 53 takes %d"
                        .formatted(spec.maxReplicas(), most.getAsInt()))
                : Optional.empty();
    }

    /** What of the zone itself has the name already, if something does: its own records come before any service. */
    static Optional<String> inZone(String host, AdmittedZone zone) {
        boolean apex = host.equals(zone.domain());
        for (FixedRecord fixed : zone.fixedRecords()) {
            if (fixed.type().equals("NS") && DomainNames.isWithin(host, fixed.name())) {
                return Optional.of("the DNSZone %s delegates %s by NS records, and %s with it; maybe remove them there"
                        .formatted(zone.ref(), fixed.name(), host));
            }
            boolean clash = !apex || Set.of("A", "AAAA", "CNAME").contains(fixed.type());
            if (fixed.name().equals(host) && clash) {
                return Optional.of("the DNSZone %s has a fixed %s record for %s; maybe remove it there"
                        .formatted(zone.ref(), fixed.type(), host));
            }
        }
        boolean nameServer =
                zone.nameServers().stream().anyMatch(server -> server.name().equals(host));
        return nameServer
                ? Optional.of("%s is a name server of the DNSZone %s".formatted(host, zone.ref()))
                : Optional.empty();
    }
}
