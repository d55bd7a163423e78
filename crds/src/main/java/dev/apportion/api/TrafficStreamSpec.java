package dev.apportion.api;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.IntOrString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a stream is. */
@ValidationRule(
        value = "[has(self.rate), has(self.rateFrom), has(self.keys)].filter(given, given).size() <= 1",
        message = TrafficStreamSpec.ONE_RATE)
public record TrafficStreamSpec(
        @JsonPropertyDescription("The TrafficService in the stream's namespace whose traffic this is a part of.")
        @Required
        ServiceReference serviceRef,

        @JsonPropertyDescription(
                "Whose questions belong to the stream. Without it, it is everyone whom no other stream of the"
                        + " service names. A zone whose dialect is Route53 cannot tell clients apart.")
        @Nullable
        Clients clients,

        @JsonPropertyDescription(
                "The stream's rate in requests per second, as a quantity. At most one of rate, rateFrom and keys"
                        + " is given.")
        @SchemaFrom(type = IntOrString.class)
        @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
        @Nullable
        Amount rate,

        @JsonPropertyDescription(
                "Where the stream's rate is measured. At most one of rate, rateFrom and keys is given.")
        @Nullable
        RateFrom rateFrom,

        @JsonPropertyDescription("The site that is local to these clients: a preference of the policy GlobalQueue.")
        @Size(max = 63)
        @Pattern(Rules.NAME_PATTERN)
        @Nullable
        String home,

        @JsonPropertyDescription("The sites that may serve the stream. Without any, every site may.")
        @Size(max = 64)
        @ListSet
        List<@Size(max = 63) @Pattern(Rules.NAME_PATTERN) String> sites,

        @JsonPropertyDescription(
                "Many names below the service's host name, each one a stream of its own. At most one of rate,"
                        + " rateFrom and keys is given.")
        @Nullable
        Keys keys) {

    static final String ONE_RATE = "at most one of rate, rateFrom and keys must be given: keys have rates of their own";

    public TrafficStreamSpec {
        Rules.required(serviceRef, "serviceRef");
        sites = Rules.set(sites, "sites");
        int rates = (rate == null ? 0 : 1) + (rateFrom == null ? 0 : 1) + (keys == null ? 0 : 1);
        Rules.require(rates <= 1, ONE_RATE);
    }

    /** A reference to a TrafficService. */
    public record ServiceReference(
            @JsonPropertyDescription("The TrafficService's name.")
            @Required
            @Size(max = 253)
            @Pattern(Rules.SUBDOMAIN_PATTERN)
            String name) {

        public ServiceReference {
            Rules.required(name, "name");
        }
    }

    /** Clients by their addresses, as a DNS server sees them: the addresses of their resolvers, as a rule. */
    public record Clients(
            @JsonPropertyDescription("The networks that questions come from. A longer prefix wins over a shorter one.")
            @Required
            @Size(min = 1, max = 256)
            @ListSet
            @ItemRule(value = Rules.NETWORK, message = Rules.NETWORK_MESSAGE)
            List<@Size(max = 49) String> cidrs) {

        public Clients {
            Rules.required(cidrs, "cidrs");
            cidrs = Rules.set(cidrs, "cidrs");
            for (int i = 0; i < cidrs.size(); i++) {
                Rules.require(
                        Addresses.isNetwork(cidrs.get(i)), "cidrs[" + i + "]", cidrs.get(i), Rules.NETWORK_MESSAGE);
            }
        }
    }

    /** A measured rate. */
    public record RateFrom(
            @JsonPropertyDescription("A query to a Prometheus server.") @Required
            RateQuery prometheus) {

        public RateFrom {
            Rules.required(prometheus, "prometheus");
        }
    }

    /** A query whose result is a rate. */
    public record RateQuery(
            @JsonPropertyDescription("The name of a source that the administrator configured on the operator.")
            @Default("default")
            @Size(max = 63)
            @Pattern(Rules.NAME_PATTERN)
            String source,

            @JsonPropertyDescription("The query in PromQL. Its result is one number: requests per second.")
            @Required
            @Size(min = 1, max = 4096)
            String query) {

        public RateQuery {
            source = requireNonNullElse(source, "default");
            Rules.required(query, "query");
        }
    }

    /** Names below the service's host name. */
    @ValidationRule(value = "has(self.list) != has(self.configMap)", message = Keys.ONE_LIST)
    public record Keys(
            @JsonPropertyDescription("The names and their rates. Exactly one of list and configMap is given.")
            @Size(min = 1, max = 1000)
            @MapList("name")
            @Nullable
            List<Key> list,

            @JsonPropertyDescription(
                    "A ConfigMap that lists the names and their rates. Exactly one of list and configMap is"
                            + " given.")
            @Nullable
            KeyList configMap) {

        static final String ONE_LIST = "exactly one of list and configMap must be given: it lists the names";

        public Keys {
            Rules.require((list == null) != (configMap == null), ONE_LIST);
            list = list == null ? null : Rules.unique(list, Key::name, "list");
        }
    }

    /** One name with its rate. */
    public record Key(
            @JsonPropertyDescription("The name below the service's host name.")
            @Required
            @Size(max = 253)
            @ValidationRule(value = Rules.RELATIVE_NAME, message = Rules.RELATIVE_NAME_MESSAGE)
            String name,

            @JsonPropertyDescription("The rate of questions for the name in requests per second, as a quantity.")
            @Required
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            Amount rate) {

        public Key {
            Rules.required(name, "name");
            Rules.require(Rules.isRelativeName(name), "name", name, Rules.RELATIVE_NAME_MESSAGE);
            Rules.required(rate, "rate");
        }
    }

    /** A ConfigMap with lines of a name, a comma and a rate. */
    public record KeyList(
            @JsonPropertyDescription("The name of the ConfigMap in the stream's namespace.")
            @Required
            @Size(max = 253)
            @Pattern(Rules.SUBDOMAIN_PATTERN)
            String name,

            @JsonPropertyDescription(
                    "The key in the ConfigMap. Its lines are a name, a comma and a rate; 10000 at most.")
            @Required
            @Size(max = 253)
            @Pattern("^[-._a-zA-Z0-9]+$")
            String key) {

        public KeyList {
            Rules.required(name, "name");
            Rules.required(key, "key");
        }
    }
}
