package dev.apportion.api;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.IntOrString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a pool should be. */
public record ReplicaPoolSpec(
        @JsonPropertyDescription("Where the replicas are.") @Required @Size(min = 1, max = 64) @MapList("name")
        List<Site> sites,

        @JsonPropertyDescription(
                "Where the load of the replicas is measured. Without it, capacities and declared rates are all"
                        + " that counts.")
        @Nullable
        Load load,

        @JsonPropertyDescription("How streams are spread over the replicas.") @Default("{}")
        Policy policy,

        @JsonPropertyDescription("How change happens.") @Default("{}")
        Behavior behavior,

        @JsonPropertyDescription(
                "Apply publishes the allocation. Observe computes it and shows it in the status, and publishes"
                        + " nothing.")
        @Default("Apply")
        Mode mode) {

    public ReplicaPoolSpec {
        Rules.required(sites, "sites");
        sites = Rules.unique(sites, Site::name, "sites");
        Rules.require(!sites.isEmpty(), "sites", "must not be empty");
        policy = requireNonNullElse(policy, Policy.DEFAULT);
        behavior = requireNonNullElse(behavior, Behavior.DEFAULT);
        mode = requireNonNullElse(mode, Mode.Apply);
    }

    /** Whether what is computed is published. */
    public enum Mode {
        Apply,
        Observe
    }

    /** Replicas in one place. */
    @ValidationRule(value = "has(self.service) != has(self.endpoints)", message = Site.ONE_SOURCE)
    @ValidationRule(value = "!has(self.healthCheck) || has(self.endpoints)", message = Site.CHECK_OF_ENDPOINTS)
    public record Site(
            @JsonPropertyDescription("The site's name.") @Required @Size(max = 63) @Pattern(Rules.NAME_PATTERN)
            String name,

            @JsonPropertyDescription(
                    "A site with a higher number serves only while no site with a lower one has a ready replica.")
            @Min(0)
            @Max(100)
            @Default("0")
            Integer priority,

            @JsonPropertyDescription(
                    "A Service in the pool's namespace whose endpoints are the replicas. Exactly one of service"
                            + " and endpoints is given.")
            @Nullable
            ServiceSource service,

            @JsonPropertyDescription("Fixed replicas. Exactly one of service and endpoints is given.")
            @Size(min = 1, max = 512)
            @MapList("name")
            @Nullable
            List<Endpoint> endpoints,

            @JsonPropertyDescription(
                    "How fixed replicas are asked whether they are well. Without it, they count as ready.")
            @Nullable
            HealthCheck healthCheck,

            @JsonPropertyDescription(
                    "What one replica can bear, in requests per second, as a quantity above 0. The annotation"
                            + " apportion.dev/capacity of a pod, or the capacity of a fixed endpoint, overrides it.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.POSITIVE_AMOUNT, message = Rules.POSITIVE_AMOUNT_MESSAGE)
            @Default("1")
            Amount capacity,

            @JsonPropertyDescription(
                    "The number of requests that one replica serves at once, for the policy GlobalQueue.")
            @Min(1)
            @Max(1000000)
            @Default("1")
            Integer concurrency) {

        static final String ONE_SOURCE =
                "exactly one of service and endpoints must be given: it says where the site's" + " replicas come from";
        static final String CHECK_OF_ENDPOINTS =
                "healthCheck is for endpoints: remove it, the pods of a service have their" + " readiness probes";
        private static final Amount ONE = Amount.of(1);

        public Site {
            Rules.required(name, "name");
            priority = requireNonNullElse(priority, 0);
            endpoints = endpoints == null ? null : Rules.unique(endpoints, Endpoint::name, "endpoints");
            capacity = Rules.positive(requireNonNullElse(capacity, ONE), "capacity");
            concurrency = requireNonNullElse(concurrency, 1);
            Rules.require((service == null) != (endpoints == null), ONE_SOURCE);
            Rules.require(healthCheck == null || endpoints != null, CHECK_OF_ENDPOINTS);
        }
    }

    /** A Service as a source of replicas. */
    public record ServiceSource(
            @JsonPropertyDescription("The Service's name.") @Required @Size(max = 63) @Pattern(Rules.NAME_PATTERN)
            String name,

            @JsonPropertyDescription(
                    "Which addresses clients are given. Endpoints are those of the Service's ready endpoints."
                        + " LoadBalancer are those in the Service's status, whose capacity is the sum of the endpoints"
                        + " behind. Nodes are those of the nodes that run a ready endpoint: external ones, else"
                        + " internal ones.")
            @Default("Endpoints")
            Publish publish) {

        public ServiceSource {
            Rules.required(name, "name");
            publish = requireNonNullElse(publish, Publish.Endpoints);
        }
    }

    /** Which addresses of a Service are published. */
    public enum Publish {
        Endpoints,
        LoadBalancer,
        Nodes
    }

    /** A fixed replica; its {@code addresses} are read as one list, however they were written. */
    @ValidationRule(value = "has(self.address) != has(self.addresses)", message = Endpoint.ONE_LIST)
    public record Endpoint(
            @JsonPropertyDescription("The replica's name.") @Required @Size(max = 63) @Pattern(Rules.SUBDOMAIN_PATTERN)
            String name,

            @JsonPropertyDescription(
                    "The replica's only address, IPv4 or IPv6. Exactly one of address and addresses is given.")
            @Size(max = 45)
            @ValidationRule(value = Rules.ADDRESS, message = Rules.ADDRESS_MESSAGE)
            @Nullable
            String address,

            @JsonPropertyDescription(
                    "The replica's addresses, IPv4 and IPv6; its share is split over those of one family. Exactly"
                            + " one of address and addresses is given.")
            @Size(min = 1, max = 16)
            @ListSet
            @ItemRule(value = Rules.ADDRESS, message = Rules.ADDRESS_MESSAGE)
            @Nullable
            List<@Size(max = 45) String> addresses,

            @JsonPropertyDescription(
                    "What the replica can bear, in requests per second, as a quantity above 0. The default is the"
                            + " site's capacity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.POSITIVE_AMOUNT, message = Rules.POSITIVE_AMOUNT_MESSAGE)
            @Nullable
            Amount capacity,

            @JsonPropertyDescription("If true, the replica is known but stands in no answer.") @Default("false")
            Boolean drain,

            @JsonPropertyDescription(
                    "A fixed sample of the replica's load, for planning and trying. A live source overrides it.")
            @Nullable
            Measured measured) {

        static final String ONE_LIST =
                "exactly one of address and addresses must be given: it says where clients reach the replica";

        public Endpoint {
            Rules.required(name, "name");
            Rules.require((address == null) != (addresses == null), ONE_LIST);
            Rules.require(address == null || Addresses.isAddress(address), "address", address, Rules.ADDRESS_MESSAGE);
            addresses = addresses == null ? null : Addresses.list(addresses);
            capacity = capacity == null ? null : Rules.positive(capacity, "capacity");
            drain = requireNonNullElse(drain, false);
        }

        /** The replica's addresses, one at least. */
        public List<String> allAddresses() {
            return addresses != null ? addresses : address != null ? List.of(address) : List.of();
        }
    }

    /** One sample of a replica's load. */
    public record Measured(
            @JsonPropertyDescription("Requests per second, as a quantity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            @Nullable
            Amount requests,

            @JsonPropertyDescription("Requests that are being served, as a quantity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            @Nullable
            Amount inFlight,

            @JsonPropertyDescription("Open connections, as a quantity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            @Nullable
            Amount connections,

            @JsonPropertyDescription("Users' sessions, as a quantity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            @Nullable
            Amount users,

            @JsonPropertyDescription("Distinct users, as a quantity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            @Nullable
            Amount uniqueUsers,

            @JsonPropertyDescription("The load average over one minute, per core, as a quantity.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.AMOUNT, message = Rules.AMOUNT_MESSAGE)
            @Nullable
            Amount loadAverage) {}

    /** How fixed replicas are asked whether they are well. */
    @ValidationRule(value = "has(self.http) != has(self.tcp)", message = HealthCheck.ONE_KIND)
    public record HealthCheck(
            @JsonPropertyDescription(
                    "The replica is well if it answers a GET request with a status from 200 to 399. Exactly one"
                            + " of http and tcp is given.")
            @Nullable
            HttpCheck http,

            @JsonPropertyDescription(
                    "The replica is well if it accepts a connection. Exactly one of http and tcp is given.")
            @Nullable
            TcpCheck tcp,

            @JsonPropertyDescription("The time between two checks of a replica, in seconds.")
            @Min(1)
            @Max(3600)
            @Default("5")
            Integer intervalSeconds,

            @JsonPropertyDescription(
                    "How long a replica may take to answer, in seconds, from the connection on; later is a failure.")
            @Min(1)
            @Max(60)
            @Default("1")
            Integer timeoutSeconds,

            @JsonPropertyDescription("The number of failures in a row after which a replica is not ready.")
            @Min(1)
            @Max(100)
            @Default("3")
            Integer unhealthyAfter,

            @JsonPropertyDescription("The number of successes in a row after which a replica is ready again.")
            @Min(1)
            @Max(100)
            @Default("2")
            Integer healthyAfter) {

        static final String ONE_KIND = "exactly one of http and tcp must be given: it says how replicas are checked";

        public HealthCheck {
            intervalSeconds = requireNonNullElse(intervalSeconds, 5);
            timeoutSeconds = requireNonNullElse(timeoutSeconds, 1);
            unhealthyAfter = requireNonNullElse(unhealthyAfter, 3);
            healthyAfter = requireNonNullElse(healthyAfter, 2);
            Rules.require((http == null) != (tcp == null), ONE_KIND);
        }
    }

    /** A check by an HTTP request. */
    public record HttpCheck(
            @JsonPropertyDescription("The number of the port.") @Required @Min(1) @Max(65535)
            Integer port,

            @JsonPropertyDescription("The path that is asked for.")
            @Default("/")
            @Size(max = 1024)
            @Pattern(Rules.PATH_PATTERN)
            String path,

            @JsonPropertyDescription("HTTPS encrypts the connection; the certificate is not looked at.")
            @Default("HTTP")
            Scheme scheme,

            @JsonPropertyDescription(
                    "The host name that is asked for: the Host header, and with HTTPS the name in the handshake (SNI)."
                            + " Without it, the address is.")
            @Size(max = 253)
            @Pattern(Rules.SUBDOMAIN_PATTERN)
            @Nullable
            String host) {

        public HttpCheck {
            Rules.required(port, "port");
            path = requireNonNullElse(path, "/");
            scheme = requireNonNullElse(scheme, Scheme.HTTP);
        }
    }

    /** Whether a check is encrypted. */
    public enum Scheme {
        HTTP,
        HTTPS
    }

    /** A check by a connection. */
    public record TcpCheck(
            @JsonPropertyDescription("The number of the port.") @Required @Min(1) @Max(65535)
            Integer port) {

        public TcpCheck {
            Rules.required(port, "port");
        }
    }

    /** Where load is measured. */
    @ValidationRule(
            value = "[has(self.podMetrics), has(self.scrape), has(self.prometheus)].filter(given, given).size() <= 1",
            message = Load.ONE_SOURCE)
    public record Load(
            @JsonPropertyDescription(
                    "The metrics API of Kubernetes. At most one of podMetrics, scrape and prometheus is given.")
            @Nullable
            PodMetrics podMetrics,

            @JsonPropertyDescription(
                    "The metrics that each pod shows itself, in the format of Prometheus. At most one of podMetrics,"
                            + " scrape and prometheus is given.")
            @Nullable
            Scrape scrape,

            @JsonPropertyDescription("A Prometheus server. At most one of podMetrics, scrape and prometheus is given.")
            @Nullable
            PrometheusLoad prometheus,

            @JsonPropertyDescription("The time between two measurements, in seconds.") @Min(1) @Max(3600) @Default("10")
            Integer intervalSeconds,

            @JsonPropertyDescription("The age in seconds from which a measurement no longer counts.")
            @Min(1)
            @Max(86400)
            @Default("60")
            Integer staleAfterSeconds) {

        static final String ONE_SOURCE =
                "at most one of podMetrics, scrape and prometheus must be given: a pool has one" + " source of load";

        public Load {
            int sources = (podMetrics == null ? 0 : 1) + (scrape == null ? 0 : 1) + (prometheus == null ? 0 : 1);
            Rules.require(sources <= 1, ONE_SOURCE);
            intervalSeconds = requireNonNullElse(intervalSeconds, 10);
            staleAfterSeconds = requireNonNullElse(staleAfterSeconds, 60);
        }
    }

    /** The metrics API as a source of load. */
    public record PodMetrics(
            @JsonPropertyDescription("The resource whose use, as a part of what the containers request, is the load.")
            @Default("cpu")
            PodResource resource) {

        public PodMetrics {
            resource = requireNonNullElse(resource, PodResource.CPU);
        }
    }

    /** A resource that the metrics API reports. */
    public enum PodResource {
        @JsonProperty("cpu")
        CPU,
        @JsonProperty("memory")
        MEMORY
    }

    /** The pods' own metrics as a source of load. */
    public record Scrape(
            @JsonPropertyDescription("The port's number or name in the Service.")
            @Required
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.PORT, message = Rules.PORT_MESSAGE)
            Port port,

            @JsonPropertyDescription("The path of the metrics.")
            @Default("/metrics")
            @Size(max = 1024)
            @Pattern(Rules.PATH_PATTERN)
            String path,

            @JsonPropertyDescription(
                    "The series that tell the load. Several samples of a pod are summed; a counter (its name ends in"
                            + " _total or _count) becomes a rate.")
            @Required
            Series series) {

        public Scrape {
            Rules.required(port, "port");
            path = requireNonNullElse(path, "/metrics");
            Rules.required(series, "series");
        }
    }

    /** A Prometheus server as a source of load. */
    public record PrometheusLoad(
            @JsonPropertyDescription("The name of a source that the administrator configured on the operator.")
            @Default("default")
            @Size(max = 63)
            @Pattern(Rules.NAME_PATTERN)
            String source,

            @JsonPropertyDescription("The series that tell the load.") @Required
            Series series) {

        public PrometheusLoad {
            source = requireNonNullElse(source, "default");
            Rules.required(series, "series");
        }
    }

    /** The names of series by the quantity that they tell; one at least. */
    @ValidationRule(
            value = "has(self.requests) || has(self.inFlight) || has(self.connections) || has(self.users)"
                    + " || has(self.uniqueUsers) || has(self.loadAverage)",
            message = Series.ONE_AT_LEAST)
    public record Series(
            @JsonPropertyDescription("The series of requests, as a rule a counter.")
            @Size(max = 256)
            @Pattern(Rules.SERIES_PATTERN)
            @Nullable
            String requests,

            @JsonPropertyDescription("The series of requests that are being served.")
            @Size(max = 256)
            @Pattern(Rules.SERIES_PATTERN)
            @Nullable
            String inFlight,

            @JsonPropertyDescription("The series of open connections.")
            @Size(max = 256)
            @Pattern(Rules.SERIES_PATTERN)
            @Nullable
            String connections,

            @JsonPropertyDescription("The series of users' sessions.")
            @Size(max = 256)
            @Pattern(Rules.SERIES_PATTERN)
            @Nullable
            String users,

            @JsonPropertyDescription("The series of distinct users.")
            @Size(max = 256)
            @Pattern(Rules.SERIES_PATTERN)
            @Nullable
            String uniqueUsers,

            @JsonPropertyDescription("The series of the load average over one minute, per core.")
            @Size(max = 256)
            @Pattern(Rules.SERIES_PATTERN)
            @Nullable
            String loadAverage) {

        static final String ONE_AT_LEAST = "at least one of requests, inFlight, connections, users, uniqueUsers and"
                + " loadAverage must be given";

        public Series {
            Rules.require(
                    requests != null
                            || inFlight != null
                            || connections != null
                            || users != null
                            || uniqueUsers != null
                            || loadAverage != null,
                    ONE_AT_LEAST);
        }
    }

    /** How streams are spread; parameters of other types than the chosen one have no effect. */
    public record Policy(
            @JsonPropertyDescription("The policy.") @Default("KSplittable")
            PolicyType type,

            @JsonPropertyDescription(
                    "What the policy's random choices begin with. The same seed gives the same allocation.")
            @Min(0)
            @Max(9007199254740991d)
            @Default("1")
            Long seed,

            @JsonPropertyDescription(
                    "Parameters of KSplittable: each stream is split over a few replicas so that the largest load"
                            + " is least.")
            KSplittableParameters kSplittable,

            @JsonPropertyDescription(
                    "Parameters of WeightedLeastConnections: a request goes to the replica with the fewest"
                            + " connections for its capacity.")
            WeightedLeastConnectionsParameters weightedLeastConnections,

            @JsonPropertyDescription("Parameters of Rating: replicas are rated by their users and their load average.")
            RatingParameters rating,

            @JsonPropertyDescription("Parameters of ZipfZones: frequent keys go to all replicas, rare ones to one.")
            ZipfZonesParameters zipfZones,

            @JsonPropertyDescription("Parameters of GlobalQueue: a stream overflows from its home site to idle ones.")
            GlobalQueueParameters globalQueue) {

        public static final Policy DEFAULT = new Policy(
                PolicyType.KSplittable,
                1L,
                KSplittableParameters.DEFAULT,
                WeightedLeastConnectionsParameters.DEFAULT,
                RatingParameters.DEFAULT,
                ZipfZonesParameters.DEFAULT,
                GlobalQueueParameters.DEFAULT);

        public Policy {
            type = requireNonNullElse(type, PolicyType.KSplittable);
            seed = requireNonNullElse(seed, 1L);
            kSplittable = requireNonNullElse(kSplittable, KSplittableParameters.DEFAULT);
            weightedLeastConnections =
                    requireNonNullElse(weightedLeastConnections, WeightedLeastConnectionsParameters.DEFAULT);
            rating = requireNonNullElse(rating, RatingParameters.DEFAULT);
            zipfZones = requireNonNullElse(zipfZones, ZipfZonesParameters.DEFAULT);
            globalQueue = requireNonNullElse(globalQueue, GlobalQueueParameters.DEFAULT);
        }
    }

    /** The policies. */
    public enum PolicyType {
        RoundRobin,
        WeightedRoundRobin,
        LeastConnections,
        WeightedLeastConnections,
        LoadAverage,
        Rating,
        KSplittable,
        ZipfZones,
        GlobalQueue
    }

    /** Parameters of k-splittable scheduling (Agarwal et al., Euro-Par 2003). */
    public record KSplittableParameters(
            @JsonPropertyDescription(
                    "Optimal makes pieces of the sizes that give the least makespan. EqualScheduled gives equal"
                            + " pieces to the least loaded replicas, EqualRandom to random ones.")
            @Default("Optimal")
            Split split) {

        public static final KSplittableParameters DEFAULT = new KSplittableParameters(Split.Optimal);

        public KSplittableParameters {
            split = requireNonNullElse(split, Split.Optimal);
        }
    }

    /** How a stream is split. */
    public enum Split {
        Optimal,
        EqualRandom,
        EqualScheduled
    }

    /** Parameters of improved weighted least-connection (Choi et al., 2010). */
    public record WeightedLeastConnectionsParameters(
            @JsonPropertyDescription(
                    "The number of requests in a row after which a new replica is passed over for a while. Without"
                            + " it, a new replica gets all requests until it has caught up.")
            @Min(1)
            @Max(1000000)
            @Nullable
            Integer maxContinuousAllocations,

            @JsonPropertyDescription(
                    "What the while is counted in: Allocation is one request, Cycle is one request for each of the"
                            + " other replicas.")
            @Default("Allocation")
            Round round) {

        public static final WeightedLeastConnectionsParameters DEFAULT =
                new WeightedLeastConnectionsParameters(null, Round.Allocation);

        public WeightedLeastConnectionsParameters {
            round = requireNonNullElse(round, Round.Allocation);
        }
    }

    /** What an allocation round is. */
    public enum Round {
        Allocation,
        Cycle
    }

    /** Parameters of the rating of dlbDNS. */
    public record RatingParameters(
            @JsonPropertyDescription(
                    "Best gives all traffic to the best replica. Weighted gives each replica the more, the better"
                            + " it is rated.")
            @Default("Weighted")
            RatingMode mode,

            @JsonPropertyDescription("What one distinct user adds to a rating; a low rating is good.")
            @Min(0)
            @Max(1000000)
            @Default("100")
            Integer weightPerUser,

            @JsonPropertyDescription("What one hundredth of load average adds to a rating.")
            @Min(0)
            @Max(1000000)
            @Default("3")
            Integer usersPerLoadUnit,

            @JsonPropertyDescription("What one answer adds to a rating until the next measurement.")
            @Min(0)
            @Max(1000000)
            @Default("200")
            Integer dispatchPenalty) {

        public static final RatingParameters DEFAULT = new RatingParameters(RatingMode.Weighted, 100, 3, 200);

        public RatingParameters {
            mode = requireNonNullElse(mode, RatingMode.Weighted);
            weightPerUser = requireNonNullElse(weightPerUser, 100);
            usersPerLoadUnit = requireNonNullElse(usersPerLoadUnit, 3);
            dispatchPenalty = requireNonNullElse(dispatchPenalty, 200);
        }
    }

    /** What a rating is used for. */
    public enum RatingMode {
        Best,
        Weighted
    }

    /** Parameters of three zones of keys (Yamashita et al., IEICE IN2012-177, 2013). */
    public record ZipfZonesParameters(
            @JsonPropertyDescription(
                    "Three cuts the keys into hot, normal and cold ones. Continuous gives each key copies in"
                            + " proportion to its frequency.")
            @Default("Three")
            Zones zones,

            @JsonPropertyDescription(
                    "The coefficient of variation of the replicas' loads that is accepted, in percent.")
            @Min(1)
            @Max(100)
            @Default("5")
            Integer maxVariationPercent,

            @JsonPropertyDescription("The memory that one key takes on a replica, in bytes.")
            @Min(1)
            @Max(1000000000000d)
            @Default("1")
            Long bytesPerKey) {

        public static final ZipfZonesParameters DEFAULT = new ZipfZonesParameters(Zones.Three, 5, 1L);

        public ZipfZonesParameters {
            zones = requireNonNullElse(zones, Zones.Three);
            maxVariationPercent = requireNonNullElse(maxVariationPercent, 5);
            bytesPerKey = requireNonNullElse(bytesPerKey, 1L);
        }
    }

    /** How keys are cut into zones. */
    public enum Zones {
        Three,
        Continuous
    }

    /** Parameters of the global waiting queue (Tay and Pang, IEEE TKDE 12(3), 2000). */
    public record GlobalQueueParameters(
            @JsonPropertyDescription("If true, traffic is taken back home as soon as there is room.") @Default("true")
            Boolean reclaim,

            @JsonPropertyDescription("The number of requests that may be served away from home at once.")
            @Min(0)
            @Max(1000000)
            @Default("8")
            Integer linkBudget,

            @JsonPropertyDescription("The predicted mean wait above which traffic overflows, in milliseconds.")
            @Min(0)
            @Max(3600000)
            @Default("100")
            Integer targetWaitMillis,

            @JsonPropertyDescription("The mean time that one request is served, in milliseconds.")
            @Min(1)
            @Max(3600000)
            @Default("10")
            Integer serviceTimeMillis) {

        public static final GlobalQueueParameters DEFAULT = new GlobalQueueParameters(true, 8, 100, 10);

        public GlobalQueueParameters {
            reclaim = requireNonNullElse(reclaim, true);
            linkBudget = requireNonNullElse(linkBudget, 8);
            targetWaitMillis = requireNonNullElse(targetWaitMillis, 100);
            serviceTimeMillis = requireNonNullElse(serviceTimeMillis, 10);
        }
    }

    /** How change happens. */
    public record Behavior(
            @JsonPropertyDescription(
                    "The allocation changes when some replica's load is above its level by more than this, in"
                            + " percent.")
            @Min(0)
            @Max(1000)
            @Default("10")
            Integer actAbovePercent,

            @JsonPropertyDescription(
                    "A change brings the loads to within this above their levels, in percent. No more than"
                            + " actAbovePercent takes effect.")
            @Min(0)
            @Max(1000)
            @Default("2")
            Integer repairToPercent,

            @JsonPropertyDescription(
                    "The least time between two changes, in seconds. The default is the largest TTL and the time"
                            + " of a reload, and the interval of measuring where load is measured. A replica that"
                            + " died is removed at once.")
            @Min(0)
            @Max(86400)
            @Nullable
            Integer cooldownSeconds,

            @JsonPropertyDescription("The most of a stream's traffic that one change may move, in percent.")
            @Min(1)
            @Max(100)
            @Default("100")
            Integer maxShiftPercent,

            @JsonPropertyDescription(
                    "If less than this part of a site's replicas is ready, in percent, the unready ones that still"
                            + " exist keep their answers. 0 is never.")
            @Min(0)
            @Max(100)
            @Default("0")
            Integer minReadyPercent,

            @JsonPropertyDescription(
                    "If more than this part of the replicas leaves in one step while their source is in doubt, in"
                            + " percent, the step waits for one cycle.")
            @Min(0)
            @Max(100)
            @Default("50")
            Integer maxRemovalPercent,

            @JsonPropertyDescription(
                    "How a new replica's share grows. Without it, a new replica has its whole share at once.")
            @Nullable
            SlowStart slowStart) {

        public static final Behavior DEFAULT = new Behavior(10, 2, null, 100, 0, 50, null);

        public Behavior {
            actAbovePercent = requireNonNullElse(actAbovePercent, 10);
            repairToPercent = requireNonNullElse(repairToPercent, 2);
            maxShiftPercent = requireNonNullElse(maxShiftPercent, 100);
            minReadyPercent = requireNonNullElse(minReadyPercent, 0);
            maxRemovalPercent = requireNonNullElse(maxRemovalPercent, 50);
        }
    }

    /** A ramp: the share grows with (age/window)^(1/aggression). */
    public record SlowStart(
            @JsonPropertyDescription("The time until a new replica has its whole share, in seconds.")
            @Min(1)
            @Max(86400)
            @Default("60")
            Integer windowSeconds,

            @JsonPropertyDescription("The part of its share that a new replica has from the beginning, in percent.")
            @Min(1)
            @Max(100)
            @Default("10")
            Integer minPercent,

            @JsonPropertyDescription(
                    "The form of the ramp, as a quantity above 0: 1 is a straight line, a greater number rises"
                            + " faster at the beginning.")
            @SchemaFrom(type = IntOrString.class)
            @ValidationRule(value = Rules.POSITIVE_AMOUNT, message = Rules.POSITIVE_AMOUNT_MESSAGE)
            @Default("1")
            Amount aggression) {

        public static final SlowStart DEFAULT = new SlowStart(60, 10, Amount.of(1));

        public SlowStart {
            windowSeconds = requireNonNullElse(windowSeconds, 60);
            minPercent = requireNonNullElse(minPercent, 10);
            aggression = Rules.positive(requireNonNullElse(aggression, Amount.of(1)), "aggression");
        }
    }
}
