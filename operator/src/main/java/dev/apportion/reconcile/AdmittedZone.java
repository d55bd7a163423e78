package dev.apportion.reconcile;

import dev.apportion.dns.externaldns.Dialect;
import dev.apportion.records.Answers;
import dev.apportion.records.FixedRecord;
import dev.apportion.records.NameServer;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;

/**
 * A DNSZone whose specification is valid and whose domain is its own.
 *
 * @param domain the canonical domain
 * @param ttlSeconds the time to live of answers, where a service says nothing else
 * @param negativeTtlSeconds how long non-existence may be remembered
 * @param nameServers its name servers, at least one
 * @param fixedRecords records served as declared
 * @param allows says whether services of a namespace, given its name and labels, may publish here
 * @param backEnd where and how its records are written
 * @param verifyAt the authoritative servers to ask
 * @param resolvers the resolvers through which clients ask; empty if it names none
 */
public record AdmittedZone(
        Ref ref,
        String domain,
        int ttlSeconds,
        int negativeTtlSeconds,
        List<NameServer> nameServers,
        List<FixedRecord> fixedRecords,
        Predicate<Namespace> allows,
        BackEnd backEnd,
        VerifyAt verifyAt,
        List<InetSocketAddress> resolvers) {

    private static final String OWNERSHIP =
            "ExternalDNS keeps who owns a record in another one, with its type in front";

    public AdmittedZone {
        nameServers = List.copyOf(nameServers);
        fixedRecords = List.copyOf(fixedRecords);
        resolvers = List.copyOf(resolvers);
    }

    /** A namespace's name and labels. */
    public record Namespace(String name, Map<String, String> labels) {}

    /** How many addresses one response holds, and which weights there are. */
    public Answers answers() {
        return switch (backEnd) {
            case CoreDns coreDns -> coreDns.answers();
            case ExternalDns externalDns -> Answers.Drawn;
        };
    }

    /** The most replicas that one stream's answers may use, where the back end has such a bound. */
    public OptionalInt mostReplicas() {
        return backEnd instanceof ExternalDns(Dialect dialect) && dialect == Dialect.Route53
                ? OptionalInt.of(Dialect.MOST_MEMBERS)
                : OptionalInt.empty();
    }

    /** Why a host name is too long for the back end, though DNS takes it; empty if it is not. */
    public Optional<String> whyTooLong(String host) {
        if (!(backEnd instanceof ExternalDns(Dialect dialect))) {
            return Optional.empty();
        }
        int length = (host + ".").indexOf('.');
        if (length > dialect.longestFirstLabel()) {
            return Optional.of("the first label of %s has %d characters, %d are possible: %s"
                    .formatted(host, length, dialect.longestFirstLabel(), OWNERSHIP));
        }
        return host.length() > dialect.longestName()
                ? Optional.of("%s has %d characters, %d are possible: %s"
                        .formatted(host, host.length(), dialect.longestName(), OWNERSHIP))
                : Optional.empty();
    }

    /** Where and how the records of a zone are written. */
    public sealed interface BackEnd {}

    /**
     * DNSEndpoints beside the services, which ExternalDNS brings to a provider.
     *
     * @param dialect what the provider understands
     */
    public record ExternalDns(Dialect dialect) implements BackEnd {}

    /**
     * The CoreDNS back end.
     *
     * @param answers how many addresses one response holds
     * @param configMap the common part of the names of the ConfigMaps
     * @param shards how many ConfigMaps there are
     * @param directory where CoreDNS sees the files
     * @param annotate whether CoreDNS' pods are annotated so that their mounts are refreshed at once
     */
    public record CoreDns(Answers answers, String configMap, int shards, String directory, boolean annotate)
            implements BackEnd {}

    /** The authoritative servers to ask whether they answer as published. */
    public sealed interface VerifyAt {

        /** Nobody is asked. */
        record Nobody() implements VerifyAt {}

        /** Fixed addresses. */
        record Servers(List<InetSocketAddress> addresses) implements VerifyAt {
            public Servers {
                addresses = List.copyOf(addresses);
            }
        }

        /** Every ready endpoint of a Service in the zone's namespace. */
        record Service(String name, int port) implements VerifyAt {}
    }
}
