package dev.apportion.reconcile;

import dev.apportion.api.TrafficStream;
import dev.apportion.api.TrafficStreamSpec;
import dev.apportion.dns.externaldns.Dialect;
import dev.apportion.load.RateQuery;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Judges TrafficStreams by themselves, but for their keys, given the verdicts on services and pools. Pure. */
final class StreamAdmission {

    private StreamAdmission() {}

    /** The service that a stream is part of. */
    static Optional<Ref> service(TrafficStream stream) {
        return Optional.ofNullable(stream.getSpec()).map(spec -> service(stream, spec));
    }

    /** The ConfigMap that lists the keys of a stream. */
    static Optional<Ref> configMap(TrafficStream stream) {
        return keyList(stream).map(list -> configMap(stream, list));
    }

    private static Ref configMap(TrafficStream stream, TrafficStreamSpec.KeyList list) {
        return new Ref(stream.getMetadata().getNamespace(), list.name());
    }

    private static Optional<TrafficStreamSpec.KeyList> keyList(TrafficStream stream) {
        return keys(stream).flatMap(keys -> Optional.ofNullable(keys.configMap()));
    }

    private static Optional<TrafficStreamSpec.Keys> keys(TrafficStream stream) {
        return Optional.ofNullable(stream.getSpec()).flatMap(spec -> Optional.ofNullable(spec.keys()));
    }

    /** Where the keys of a stream are listed; empty if it has none. */
    static Optional<KeySource> keys(TrafficStream stream, World world) {
        return keys(stream)
                .map(keys -> keyList(stream)
                        .map(list -> world.keys(configMap(stream, list), list.key()))
                        .orElseGet(() -> KeySource.of(Objects.requireNonNullElse(keys.list(), List.of()))));
    }

    private static Ref service(TrafficStream stream, TrafficStreamSpec spec) {
        return new Ref(stream.getMetadata().getNamespace(), spec.serviceRef().name());
    }

    static Judged<AdmittedStream> judge(
            TrafficStream stream,
            Function<Ref, @Nullable Judged<AdmittedService>> services,
            Function<Ref, Optional<AdmittedZone>> zones,
            Function<Ref, Optional<AdmittedPool>> pools) {
        TrafficStreamSpec spec = stream.getSpec();
        if (spec == null) {
            return Judged.rejected("Unreadable", Admission.unreadable(stream));
        }
        if (spec.keys() != null && spec.clients() != null) {
            return Judged.rejected(
                    "InvalidSpec",
                    "spec.keys and spec.clients exclude each other: a key is a name of its own, for all clients; maybe"
                            + " make two streams of it");
        }
        List<IPAddress> clients = new ArrayList<>();
        if (spec.clients() != null) {
            for (String cidr : spec.clients().cidrs()) {
                switch (Addresses.parseBlock(cidr)) {
                    case Parsed.Value<IPAddress>(IPAddress block) -> clients.add(block);
                    case Parsed.Invalid<IPAddress>(String problem) -> {
                        return Judged.rejected("InvalidSpec", "spec.clients.cidrs: " + problem);
                    }
                }
            }
        }
        Ref ref = Ref.of(stream);
        Ref serviceRef = service(stream, spec);
        Judged<AdmittedService> service = services.apply(serviceRef);
        if (service == null) {
            return Judged.unresolved("ServiceNotFound", "there is no TrafficService %s".formatted(serviceRef));
        }
        if (service.value().isEmpty()) {
            return Judged.unresolved(
                    "ServiceNotAccepted", "the TrafficService %s is itself not accepted".formatted(serviceRef));
        }
        Ref zone = service.value().get().zone();
        if (!clients.isEmpty()
                && zones.apply(zone).orElseThrow().backEnd() instanceof AdmittedZone.ExternalDns(Dialect dialect)
                && !dialect.tellsClientsApart()) {
            return Judged.rejected(
                    "ClientsNotTold",
                    "spec.clients: all clients of a name are alike to the DNSZone %s, whose dialect is %s; maybe give these clients a host name of their own (a TrafficService, or spec.keys), or use a zone with coreDNS or the dialect PowerDNS"
                            .formatted(zone, dialect));
        }
        AdmittedStream admitted = new AdmittedStream(
                ref,
                serviceRef,
                clients,
                spec.rate() == null ? 0 : spec.rate().value(),
                Set.copyOf(spec.sites()),
                Optional.ofNullable(spec.home()),
                Optional.empty(),
                Optional.ofNullable(spec.rateFrom())
                        .map(from -> new RateQuery(
                                from.prometheus().source(), from.prometheus().query())));
        Optional<AdmittedPool> pool = pools.apply(service.value().get().pool());
        Optional<String> unknown = pool.flatMap(found -> unknownSite(spec, found));
        return unknown.map(site -> Judged.admittedUnresolved(
                        admitted,
                        "SiteNotFound",
                        "the ReplicaPool %s has no site \"%s\"; it has %s"
                                .formatted(
                                        pool.orElseThrow().ref(),
                                        site,
                                        pool.orElseThrow().sites().stream()
                                                .map(AdmittedPool.Site::name)
                                                .collect(Collectors.joining(", ")))))
                .orElseGet(() -> Judged.admitted(admitted));
    }

    private static Optional<String> unknownSite(TrafficStreamSpec spec, AdmittedPool pool) {
        Set<String> known = pool.sites().stream().map(AdmittedPool.Site::name).collect(Collectors.toSet());
        return Stream.concat(spec.sites().stream(), Stream.ofNullable(spec.home()))
                .filter(site -> !known.contains(site))
                .findFirst();
    }
}
