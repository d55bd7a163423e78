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
import org.jspecify.annotations.Nullable;

/** What a service should be. */
public record TrafficServiceSpec(
        @JsonPropertyDescription("The DNSZone that the host name is in: the closest one that holds it.") @Required
        ZoneReference zoneRef,

        @JsonPropertyDescription(
                "The host name that clients ask for: the zone's domain or a name below it. Upper case, a trailing"
                        + " dot and labels beyond ASCII are accepted and normalised.")
        @Required
        @Size(max = 254)
        @ValidationRule(value = Rules.HOST_NAME, message = Rules.HOST_NAME_MESSAGE)
        String hostname,

        @JsonPropertyDescription("The ReplicaPool in the service's namespace that serves the host name.") @Required
        PoolReference poolRef,

        @JsonPropertyDescription(
                "The number of replicas that one stream's answers may use at most. The default is all of them"
                        + " if answers are Single, and 16 if they are List. Route 53 takes 100 at most.")
        @Min(1)
        @Max(1000)
        @Nullable
        Integer maxReplicas,

        @JsonPropertyDescription(
                "How long resolvers may keep an answer, in seconds. The default is the zone's ttlSeconds.")
        @Min(1)
        @Max(86400)
        @Nullable
        Integer ttlSeconds,

        @JsonPropertyDescription("If true, the published answers stay as they are.") @Default("false")
        Boolean paused) {

    public TrafficServiceSpec {
        Rules.required(zoneRef, "zoneRef");
        Rules.required(hostname, "hostname");
        Rules.require(Rules.isHostName(hostname), "hostname", hostname, Rules.HOST_NAME_MESSAGE);
        Rules.required(poolRef, "poolRef");
        paused = requireNonNullElse(paused, false);
    }

    /** A reference to a DNSZone. */
    public record ZoneReference(
            @JsonPropertyDescription("The DNSZone's name.") @Required @Size(max = 253) @Pattern(Rules.SUBDOMAIN_PATTERN)
            String name,

            @JsonPropertyDescription("The DNSZone's namespace. The default is the service's own.")
            @Size(max = 63)
            @Pattern(Rules.NAME_PATTERN)
            @Nullable
            String namespace) {

        public ZoneReference {
            Rules.required(name, "name");
        }
    }

    /** A reference to a ReplicaPool. */
    public record PoolReference(
            @JsonPropertyDescription("The ReplicaPool's name.")
            @Required
            @Size(max = 253)
            @Pattern(Rules.SUBDOMAIN_PATTERN)
            String name) {

        public PoolReference {
            Rules.required(name, "name");
        }
    }
}
