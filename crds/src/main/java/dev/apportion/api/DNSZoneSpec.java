package dev.apportion.api;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a zone should be. */
@ValidationRule(value = "has(self.coreDNS) != has(self.externalDNS)", message = DNSZoneSpec.ONE_BACK_END)
public record DNSZoneSpec(
        @JsonPropertyDescription(
                "The domain whose names this zone answers for. Upper case, a trailing dot and labels beyond"
                        + " ASCII are accepted and normalised. It cannot be changed.")
        @Required
        @Size(max = 254)
        @ValidationRule(value = Rules.HOST_NAME, message = Rules.HOST_NAME_MESSAGE)
        @ValidationRule(value = Rules.UNCHANGED, message = DNSZoneSpec.DOMAIN_CHANGED)
        String domain,

        @JsonPropertyDescription("How long resolvers may keep an answer, in seconds.")
        @Min(1)
        @Max(86400)
        @Default("15")
        Integer ttlSeconds,

        @JsonPropertyDescription(
                "How long resolvers may remember that a name does not exist, in seconds (the minimum of the SOA"
                        + " record).")
        @Min(1)
        @Max(3600)
        @Default("5")
        Integer negativeTTLSeconds,

        @JsonPropertyDescription("The namespaces whose TrafficServices may use this zone.") @Default("{}")
        AllowedNamespaces allowedNamespaces,

        @JsonPropertyDescription(
                "The zone's name servers as its NS records name them. Without any, it is ns below the domain.")
        @Size(max = 16)
        @MapList("name")
        List<NameServer> nameServers,

        @JsonPropertyDescription(
                "Fixed records that are served beside the services' host names, with coreDNS. A name and type occur"
                        + " once; they have many values.")
        @Size(max = 512)
        @MapList({"name", "type"})
        @ValidationRule(value = DNSZoneSpec.ALIAS_ALONE_RULE, message = DNSZoneSpec.ALIAS_ALONE)
        List<FixedRecord> records,

        @JsonPropertyDescription(
                "Writes the zone into the configuration of CoreDNS. Exactly one of coreDNS and externalDNS is"
                        + " given.")
        @Nullable
        CoreDNS coreDNS,

        @JsonPropertyDescription(
                "Writes each service of the zone as a DNSEndpoint in the service's namespace, which ExternalDNS"
                        + " brings to a provider. The zone itself, with records, nameServers and"
                        + " negativeTTLSeconds, is that of the provider. Exactly one of coreDNS and externalDNS is"
                        + " given.")
        @Nullable
        ExternalDNS externalDNS,

        @JsonPropertyDescription(
                "The authoritative servers that are asked whether they answer as published. Without any, the"
                        + " condition Verified stays Unknown.")
        @Nullable
        VerifyAt verifyAt,

        @JsonPropertyDescription(
                "The resolvers through which clients ask. Whether weights survive on that way is judged"
                        + " through them; without any, the condition WeightsHonored stays Unknown.")
        @Nullable
        Resolvers resolvers) {

    static final String ONE_BACK_END =
            "exactly one of coreDNS and externalDNS must be given: it says where the zone's records are written";
    static final String ALIAS_ALONE_RULE = "!sets.intersects(self.filter(r, r.type == 'CNAME').map(r, r.name),"
            + " self.filter(r, r.type != 'CNAME').map(r, r.name))";
    static final String ALIAS_ALONE = "a CNAME must be the only record of its name";
    static final String DOMAIN_CHANGED =
            "cannot be changed, because what is published is stored under it: create a new zone instead";
    static final String CONFIG_MAP_CHANGED =
            "cannot be changed, because what is published is stored in it: create a new zone instead";

    public DNSZoneSpec {
        Rules.required(domain, "domain");
        Rules.require(Rules.isHostName(domain), "domain", domain, Rules.HOST_NAME_MESSAGE);
        ttlSeconds = requireNonNullElse(ttlSeconds, 15);
        negativeTTLSeconds = requireNonNullElse(negativeTTLSeconds, 5);
        allowedNamespaces = requireNonNullElse(allowedNamespaces, AllowedNamespaces.DEFAULT);
        nameServers = Rules.unique(nameServers, NameServer::name, "nameServers");
        records = Rules.unique(records, record -> record.name() + " " + record.type(), "records");
        requireAliasesAlone(records);
        Rules.require((coreDNS == null) != (externalDNS == null), ONE_BACK_END);
    }

    private static void requireAliasesAlone(List<FixedRecord> records) {
        Map<String, Long> types =
                records.stream().collect(Collectors.groupingBy(FixedRecord::name, Collectors.counting()));
        for (int i = 0; i < records.size(); i++) {
            FixedRecord record = records.get(i);
            Rules.require(
                    !record.type().equals("CNAME") || types.getOrDefault(record.name(), 0L) == 1,
                    "records[" + i + "]",
                    ALIAS_ALONE);
        }
    }

    /** Which namespaces' services may use the zone. */
    @ValidationRule(
            value = "(has(self.from) && self.from == 'Selector') == has(self.selector)",
            message = AllowedNamespaces.SELECTOR_WITH_FROM)
    public record AllowedNamespaces(
            @JsonPropertyDescription(
                    "Same is the zone's own namespace, All is every namespace, and Selector is every namespace"
                            + " whose labels match the selector.")
            @Default("Same")
            From from,

            @JsonPropertyDescription(
                    "The labels of the namespaces that may use the zone. It is given if and only if from is"
                            + " Selector.")
            @Nullable
            NamespaceSelector selector) {

        static final String SELECTOR_WITH_FROM = "selector must be given if from is Selector, and only then";
        public static final AllowedNamespaces DEFAULT = new AllowedNamespaces(From.Same, null);

        public AllowedNamespaces {
            from = requireNonNullElse(from, From.Same);
            Rules.require((from == From.Selector) == (selector != null), SELECTOR_WITH_FROM);
        }
    }

    /** How namespaces are named. */
    public enum From {
        Same,
        All,
        Selector
    }

    /** A label selector: every one of its requirements must hold. */
    public record NamespaceSelector(
            @JsonPropertyDescription("Labels that the namespace must have, with these values.") @Size(max = 64)
            Map<String, @Size(max = 63) @Pattern(Rules.LABEL_VALUE_PATTERN) String> matchLabels,

            @JsonPropertyDescription("Requirements that the namespace's labels must meet.") @Size(max = 64)
            List<LabelRequirement> matchExpressions) {

        public NamespaceSelector {
            matchLabels = matchLabels == null ? Map.of() : Map.copyOf(matchLabels);
            matchExpressions = Rules.list(matchExpressions, "matchExpressions");
        }
    }

    /** One requirement of a label selector. */
    @ValidationRule(
            value = "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
            message = LabelRequirement.VALUES_WITH_IN)
    public record LabelRequirement(
            @JsonPropertyDescription("The label's key.") @Required @Size(max = 317) @Pattern(Rules.LABEL_KEY_PATTERN)
            String key,

            @JsonPropertyDescription("How the label relates to the values.") @Required
            LabelOperator operator,

            @JsonPropertyDescription("The values for In and NotIn.") @Size(max = 64)
            List<@Size(max = 63) @Pattern(Rules.LABEL_VALUE_PATTERN) String> values) {

        static final String VALUES_WITH_IN = "values must be given for the operators In and NotIn, and only for them";

        public LabelRequirement {
            Rules.required(key, "key");
            Rules.required(operator, "operator");
            values = Rules.list(values, "values");
            Rules.require(
                    (operator == LabelOperator.In || operator == LabelOperator.NotIn) != values.isEmpty(),
                    VALUES_WITH_IN);
        }
    }

    /** How a label relates to values. */
    public enum LabelOperator {
        In,
        NotIn,
        Exists,
        DoesNotExist
    }

    /** A name server of the zone. */
    public record NameServer(
            @JsonPropertyDescription("The name server's own name.")
            @Required
            @Size(max = 254)
            @ValidationRule(value = Rules.HOST_NAME, message = Rules.HOST_NAME_MESSAGE)
            String name,

            @JsonPropertyDescription(
                    "The name server's addresses, which are served as glue if its name is below the domain.")
            @Size(max = 16)
            @ListSet
            @ItemRule(value = Rules.ADDRESS, message = Rules.ADDRESS_MESSAGE)
            List<@Size(max = 45) String> addresses) {

        public NameServer {
            Rules.required(name, "name");
            Rules.require(Rules.isHostName(name), "name", name, Rules.HOST_NAME_MESSAGE);
            addresses = Addresses.list(addresses);
        }
    }

    /** Records that are served as they stand: one RRset. */
    @ValidationRule(value = "self.type != 'CNAME' || size(self.values) == 1", message = FixedRecord.ONE_TARGET)
    @ValidationRule(value = "self.type != 'CNAME' || self.name != '@'", message = FixedRecord.NO_ALIAS_AT_APEX)
    public record FixedRecord(
            @JsonPropertyDescription(
                    "The owner's name relative to the domain: @ is the domain itself, and a first label * is a"
                            + " wildcard.")
            @Required
            @Size(max = 253)
            @ValidationRule(value = Rules.OWNER_NAME, message = Rules.OWNER_NAME_MESSAGE)
            String name,

            @JsonPropertyDescription(
                    "The type in upper case: A, AAAA, CNAME, MX, TXT, SRV, NS, CAA and so on. SOA, which the zone"
                            + " writes itself, and types that are only asked for are refused.")
            @Required
            @Size(max = 16)
            @Pattern("^[A-Z][A-Z0-9]*(-[A-Z0-9]+)?$")
            @ValidationRule(
                    value = "!(self in ['SOA', 'OPT', 'TSIG', 'TKEY', 'ANY', 'AXFR', 'IXFR', 'MAILA', 'MAILB'])",
                    message = FixedRecord.NOT_STORED)
            String type,

            @JsonPropertyDescription(
                    "The data of each record as a zone file writes it. A name without a trailing dot is relative"
                            + " to the domain.")
            @Required
            @Size(min = 1, max = 64)
            @ListSet
            List<@Size(max = 4096) @Pattern("^[^\\x00-\\x1f\\x7f]+$") String> values,

            @JsonPropertyDescription(
                    "How long resolvers may keep the records, in seconds. The default is the zone's ttlSeconds.")
            @Min(1)
            @Max(604800)
            @Nullable
            Integer ttlSeconds) {

        static final String ONE_TARGET = "a CNAME must have exactly one value";
        static final String NO_ALIAS_AT_APEX =
                "a CNAME cannot stand at the domain itself: use A and AAAA records there";
        static final String NOT_STORED =
                "must be a type that a zone stores; SOA is written by the zone itself, the others are only asked for";
        private static final java.util.regex.Pattern CONTROL = java.util.regex.Pattern.compile("[\\x00-\\x1f\\x7f]");
        private static final Set<String> NOT_STORED_TYPES =
                Set.of("SOA", "OPT", "TSIG", "TKEY", "ANY", "AXFR", "IXFR", "MAILA", "MAILB");

        public FixedRecord {
            Rules.required(name, "name");
            Rules.require(Rules.isOwnerName(name), "name", name, Rules.OWNER_NAME_MESSAGE);
            Rules.required(type, "type");
            Rules.require(!NOT_STORED_TYPES.contains(type), "type", type, NOT_STORED);
            values = Rules.set(values, "values");
            for (int i = 0; i < values.size(); i++) {
                Rules.require(
                        !CONTROL.matcher(values.get(i)).find(),
                        "values[" + i + "]",
                        values.get(i),
                        "must not contain line breaks or other control characters");
            }
            Rules.require(!type.equals("CNAME") || values.size() == 1, ONE_TARGET);
            Rules.require(!type.equals("CNAME") || !name.equals("@"), NO_ALIAS_AT_APEX);
        }
    }

    /** How the zone is written for CoreDNS. */
    public record CoreDNS(
            @JsonPropertyDescription(
                    "Single gives one address in each response, drawn by weight, so that shares survive every"
                            + " resolver. List gives up to maxReplicas addresses and draws the first one by weight, so"
                            + " that clients can fail over by themselves, but most resolvers destroy the order.")
            @Default("Single")
            Answers answers,

            @JsonPropertyDescription("The ConfigMaps that hold the files. It cannot be changed.")
            @Default("{}")
            @ValidationRule(value = Rules.UNCHANGED, message = DNSZoneSpec.CONFIG_MAP_CHANGED)
            ConfigMapShards configMap,

            @JsonPropertyDescription("The folder in which CoreDNS sees the files.")
            @Default("/etc/apportion")
            @Size(max = 255)
            @Pattern("^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$")
            String directory,

            @JsonPropertyDescription(
                    "How CoreDNS's pods are made to see a change at once. Annotate writes the annotation"
                        + " apportion.dev/serial to the pods behind verifyAt.service. None leaves it to the kubelet,"
                        + " which takes about a minute.")
            @Default("Annotate")
            Refresh refresh) {

        public static final CoreDNS DEFAULT =
                new CoreDNS(Answers.Single, ConfigMapShards.DEFAULT, "/etc/apportion", Refresh.Annotate);

        public CoreDNS {
            answers = requireNonNullElse(answers, Answers.Single);
            configMap = requireNonNullElse(configMap, ConfigMapShards.DEFAULT);
            directory = requireNonNullElse(directory, "/etc/apportion");
            refresh = requireNonNullElse(refresh, Refresh.Annotate);
        }
    }

    /** What one response holds. */
    public enum Answers {
        Single,
        List
    }

    /** How a change reaches CoreDNS's pods. */
    public enum Refresh {
        Annotate,
        None
    }

    /** The ConfigMaps {@code NAME-0}, {@code NAME-1} and so on in the zone's namespace. */
    public record ConfigMapShards(
            @JsonPropertyDescription("The first part of the ConfigMaps' names; a hyphen and a number from 0 follow.")
            @Default("apportion-coredns")
            @Size(max = 200)
            @Pattern(Rules.SUBDOMAIN_PATTERN)
            String name,

            @JsonPropertyDescription("The number of ConfigMaps. Each one bears some 600 host names.")
            @Min(1)
            @Max(64)
            @Default("8")
            Integer shards) {

        public static final ConfigMapShards DEFAULT = new ConfigMapShards("apportion-coredns", 8);

        public ConfigMapShards {
            name = requireNonNullElse(name, "apportion-coredns");
            shards = requireNonNullElse(shards, 8);
        }
    }

    /** How the zone is written for ExternalDNS. */
    public record ExternalDNS(
            @JsonPropertyDescription(
                    "The kind of weighted record that ExternalDNS's provider understands: Route53, weighted sets,"
                            + " where all clients of a name are alike; PowerDNS, LUA records, where streams may name"
                            + " clients.")
            @Required
            Dialect dialect) {

        public ExternalDNS {
            Rules.required(dialect, "dialect");
        }
    }

    /** A provider's kind of weighted record. */
    public enum Dialect {
        Route53,
        PowerDNS
    }

    /** The authoritative servers to ask. */
    @ValidationRule(value = "has(self.service) != has(self.addresses)", message = VerifyAt.ONE_SOURCE)
    public record VerifyAt(
            @JsonPropertyDescription(
                    "A Service in the zone's namespace; every ready endpoint is asked. Exactly one of service and"
                            + " addresses is given.")
            @Nullable
            DnsServiceReference service,

            @JsonPropertyDescription(
                    "Servers as address and port; the port is 53 if it is left out. Exactly one of service and"
                            + " addresses is given.")
            @Size(min = 1, max = 64)
            @ListSet
            @ItemRule(value = Rules.SERVER, message = Rules.SERVER_MESSAGE)
            @Nullable
            List<@Size(max = 53) String> addresses) {

        static final String ONE_SOURCE =
                "exactly one of service and addresses must be given: it says which servers to ask";

        public VerifyAt {
            Rules.require((service == null) != (addresses == null), ONE_SOURCE);
            addresses = addresses == null ? null : Addresses.servers(addresses);
        }
    }

    /** A Service of DNS servers. */
    public record DnsServiceReference(
            @JsonPropertyDescription("The Service's name.") @Required @Size(max = 63) @Pattern(Rules.NAME_PATTERN)
            String name,

            @JsonPropertyDescription("The number of the Service's port.") @Min(1) @Max(65535) @Default("53")
            Integer port) {

        public DnsServiceReference {
            Rules.required(name, "name");
            port = requireNonNullElse(port, 53);
        }
    }

    /** The resolvers through which weights are judged. */
    public record Resolvers(
            @JsonPropertyDescription("Resolvers as address and port; the port is 53 if it is left out.")
            @Required
            @Size(min = 1, max = 16)
            @ListSet
            @ItemRule(value = Rules.SERVER, message = Rules.SERVER_MESSAGE)
            List<@Size(max = 53) String> addresses) {

        public Resolvers {
            Rules.required(addresses, "addresses");
            addresses = Addresses.servers(addresses);
        }
    }
}
