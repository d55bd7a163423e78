package dev.apportion.cli;

import dev.apportion.load.PrometheusServer;
import dev.apportion.reconcile.ApportionOperator;
import dev.apportion.reconcile.ClusterClient;
import dev.apportion.reconcile.ScrapeNetworks;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code apportion operator}: runs in the cluster, or against the kubeconfig. */
@Command(
        name = "operator",
        description = "Runs the operator in the cluster, or against the current context of the kubeconfig.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:stopped cleanly", "1:a fatal error, or another operator took over", "2:bad options"})
final class OperatorCommand implements Callable<Integer> {

    /** How long the process lives on for a clean stop. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(
            names = {"-n", "--namespaces"},
            split = ",",
            paramLabel = "NAMESPACE",
            description = "The namespaces to watch; default: all.")
    private Set<String> namespaces = Set.of();

    @Option(
            names = "--zone-namespaces",
            split = ",",
            paramLabel = "NAMESPACE",
            description =
                    "Namespaces to look after for what zones that are gone left there, beside those that have zones;"
                            + " default: those of --namespaces.")
    private Set<String> zoneNamespaces = Set.of();

    @Option(
            names = "--reconcile-interval",
            description = "How often everything is looked at again although nothing happened (ISO 8601); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration reconcileInterval = Duration.ofMinutes(10);

    @Option(
            names = "--verify-interval",
            description = "How often the DNS servers are asked although nothing changed (ISO 8601); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration verifyInterval = Duration.ofSeconds(30);

    @Option(
            names = "--verify-grace",
            description = "How long DNS servers may lag behind a change before it is said (ISO 8601); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration verifyGrace = Duration.ofSeconds(10);

    @Option(
            names = "--external-dns-grace",
            description = "How much longer they may lag where ExternalDNS and a provider are on the way (ISO 8601);"
                    + " default: ${DEFAULT-VALUE}.")
    private Duration externalDnsGrace = Duration.ofMinutes(2);

    @Option(
            names = "--route53-interval",
            description = "The shortest time between two changes of a zone at Route 53, unless a replica is gone (ISO"
                    + " 8601); default: ${DEFAULT-VALUE}.")
    private Duration route53Interval = Duration.ofMinutes(1);

    @Option(
            names = "--watch-audit-interval",
            description =
                    "How often it is looked after whether the watches still tell what happens (ISO 8601); default:"
                            + " ${DEFAULT-VALUE}.")
    private Duration auditInterval = Duration.ofSeconds(30);

    @Option(
            names = "--http",
            paramLabel = "ADDR:PORT",
            converter = ServerAddress.class,
            defaultValue = "127.0.0.1:0",
            description =
                    "Serve /healthz, /readyz and /metrics here; port 0 takes a free one. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private InetSocketAddress http;

    @Option(
            names = "--lease",
            paramLabel = "NAME",
            defaultValue = "apportion",
            description = "The Lease by which one of several operators is elected. Default: ${DEFAULT-VALUE}.")
    private String lease = "apportion";

    @Option(
            names = "--lease-namespace",
            paramLabel = "NAMESPACE",
            description =
                    "The namespace of the Lease; default: of --namespaces the first one by name, else that of the pod"
                            + " or of the current context.")
    private @Nullable String leaseNamespace;

    @Option(
            names = "--lease-duration",
            description = "How long a leader may stay without renewing the Lease (ISO 8601, whole seconds); default:"
                    + " ${DEFAULT-VALUE}.")
    private Duration leaseDuration = Duration.ofSeconds(15);

    @Option(
            names = "--resolver-interval",
            description =
                    "How often some hosts are asked for through the zones' resolvers although nothing changed (ISO"
                            + " 8601); default: ${DEFAULT-VALUE}.")
    private Duration resolverInterval = Duration.ofMinutes(5);

    @Option(
            names = "--scrape-networks",
            split = ",",
            paramLabel = "CIDR",
            description =
                    "The only networks whose addresses are asked for metrics (spec.load.scrape); default: wherever pods"
                            + " are, except loopback and link-local addresses.")
    private Set<String> scrapeNetworks = Set.of();

    @Option(
            names = "--prometheus-sources",
            paramLabel = "FILE",
            description = "The Prometheus servers that pools may name (spec.load.prometheus): a YAML list of name, url,"
                    + " and where they are needed caFile, tokenFile, user and passwordFile.")
    private @Nullable Path prometheusSources;

    @Override
    public Integer call() throws IOException, InterruptedException {
        CompletableFuture<Integer> end = new CompletableFuture<>();
        Clock clock = Clock.systemUTC();
        try (var _ = new Termination(PATIENCE, () -> end.complete(CommandLine.ExitCode.OK));
                KubernetesClient client = ClusterClient.open(clock);
                ApportionOperator operator = new ApportionOperator(
                        client,
                        settings(Objects.requireNonNullElse(client.getNamespace(), "default")),
                        clock,
                        holder -> end.complete(CommandLine.ExitCode.SOFTWARE))) {
            Thread.ofVirtual().name("start").start(() -> start(operator, end));
            return end.join();
        }
    }

    /** Waiting for the API server must not keep the command from ending when it is told to. */
    private static void start(ApportionOperator operator, CompletableFuture<Integer> end) {
        try {
            operator.start();
        } catch (IOException | RuntimeException e) {
            end.completeExceptionally(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ApportionOperator.Settings settings(String contextNamespace) {
        if (leaseDuration.toSeconds() < 1) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--lease-duration %s is less than a second".formatted(leaseDuration));
        }
        String place = leaseNamespace == null
                ? namespaces.stream().sorted().findFirst().orElse(contextNamespace)
                : leaseNamespace;
        return new ApportionOperator.Settings(
                namespaces,
                zoneNamespaces.isEmpty() ? namespaces : zoneNamespaces,
                reconcileInterval,
                verifyInterval,
                verifyGrace,
                externalDnsGrace,
                route53Interval,
                resolverInterval,
                auditInterval,
                new ApportionOperator.Lease(place, lease, identity(), leaseDuration),
                http,
                new ScrapeNetworks(networks()),
                sources());
    }

    private Map<String, PrometheusServer> sources() {
        try {
            return prometheusSources == null ? Map.of() : PrometheusSources.read(prometheusSources);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--prometheus-sources: " + e.getMessage(), e);
        }
    }

    private List<IPAddress> networks() {
        List<IPAddress> networks = new ArrayList<>();
        for (String text : scrapeNetworks) {
            switch (Addresses.parseBlock(text)) {
                case Parsed.Value<IPAddress>(IPAddress network) -> networks.add(network);
                case Parsed.Invalid<IPAddress>(String problem) ->
                    throw new CommandLine.ParameterException(spec.commandLine(), "--scrape-networks: " + problem);
            }
        }
        return networks;
    }

    /** A process that was started anew in the same pod is another candidate. */
    private static String identity() {
        String host = System.getenv("HOSTNAME");
        return (host == null ? "apportion" : host) + "_" + UUID.randomUUID();
    }
}
