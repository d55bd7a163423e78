package dev.apportion.cli;

import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.DirectoryPublisher;
import dev.apportion.dns.wire.Answerer;
import dev.apportion.dns.wire.DnsServer;
import dev.apportion.dns.wire.PublishedZones;
import dev.apportion.health.EndpointHealth;
import dev.apportion.health.HealthChecks;
import dev.apportion.health.Target;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.Ref;
import dev.apportion.records.Answers;
import dev.apportion.records.ZoneRecords;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code apportion local}: the whole pipeline over a folder of manifests, without a cluster. */
@Command(
        name = "local",
        description =
                "Plans and answers what a folder of manifests declares, and follows its changes. No cluster is needed.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:stopped cleanly", "1:a fatal error", "2:bad options, or manifests that cannot be read"})
final class LocalCommand implements Callable<Integer> {

    /** Looking at a few files costs nothing; their change is answered within a second. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    /** How long the process lives on for a clean stop. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Shards SHARDS = new Shards(8);

    @Parameters(paramLabel = "DIR", description = "The folder of manifests.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path directory;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Also write CoreDNS' files here, with a Corefile where there is none; then: coredns -conf"
                    + " DIR/Corefile")
    private @Nullable Path out;

    @Option(
            names = "--dns",
            paramLabel = "ADDR:PORT",
            converter = ServerAddress.class,
            defaultValue = "127.0.0.1:0",
            description = "Answer DNS queries here, UDP and TCP; port 0 takes a free one. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private InetSocketAddress dns;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    private final Map<Ref, ZoneRecords> published = new TreeMap<>();

    /** Whether some endpoint is not as it was when last looked at. */
    private final AtomicBoolean healthChanged = new AtomicBoolean();

    private final HealthChecks<Ref> checks = new HealthChecks<>(pool -> healthChanged.set(true));
    private @Nullable Plan last;

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<String> fingerprint = fingerprint();
        Plan plan;
        try {
            plan = plan();
        } catch (ManifestException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        try (checks;
                Termination termination = new Termination(PATIENCE, () -> {});
                DnsServer server = DnsServer.start(dns, new Answerer(RandomGenerator.getDefault()), zones(plan))) {
            show(plan, server);
            while (!termination.await(PAUSE)) {
                List<String> now = fingerprint();
                if (!now.equals(fingerprint) || healthChanged.getAndSet(false) || isUnfinished()) {
                    fingerprint = now;
                    follow(server);
                }
            }
        }
        return CommandLine.ExitCode.OK;
    }

    /** Whether more is to move than may at a time. */
    private boolean isUnfinished() {
        return last != null
                && last.pools().values().stream().anyMatch(pool -> pool.course().isUnfinished());
    }

    private Plan plan() throws ManifestException {
        Manifests world = Manifests.read(List.of(directory));
        world.healthBy(this::health);
        Plan plan = Plan.of(world, zone -> Optional.ofNullable(published.get(zone)), Optional.ofNullable(last));
        Set<Ref> gone =
                last == null ? new HashSet<>() : new HashSet<>(last.pools().keySet());
        gone.removeAll(plan.pools().keySet());
        gone.forEach(pool -> checks.check(pool, Set.of()));
        plan.pools().forEach((ref, pool) -> checks.check(ref, pool.basis().targets()));
        last = plan;
        // A folder has no limit, but what is tried here is to stand in a cluster one day.
        return out == null ? plan : plan.withWhatDoesNotFit();
    }

    /** Until it has been asked, an endpoint counts as well. */
    private EndpointHealth health(Target target) {
        EndpointHealth known = checks.of(target);
        return known instanceof EndpointHealth.Unchecked ? new EndpointHealth.Healthy() : known;
    }

    private PublishedZones zones(Plan plan) throws IOException {
        Map<Ref, ZoneRecords> next = plan.records(published);
        published.clear();
        published.putAll(next);
        List<ZoneRecords> records = List.copyOf(published.values());
        if (out != null) {
            write(out, records);
        }
        return PublishedZones.of(records, SHARDS);
    }

    /** A change that cannot be read leaves the answers as they are. */
    private void follow(DnsServer server) throws IOException {
        try {
            Plan plan = plan();
            server.serve(zones(plan));
            show(plan, server);
        } catch (ManifestException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println(e.getMessage());
            err.println("The answers stay as they were.");
            err.flush();
        }
    }

    private void write(Path folder, List<ZoneRecords> zones) throws IOException {
        CorefileFolder.prepare(folder);
        List<ZoneRecords> served =
                zones.stream().filter(zone -> zone.answers() != Answers.Drawn).toList();
        switch (new DirectoryPublisher(folder).publish(served, SHARDS)) {
            case DirectoryPublisher.Outcome.Written written ->
                written.refused()
                        .forEach((domain, reason) -> spec.commandLine()
                                .getErr()
                                .println("%s stays as it was: %s".formatted(domain, reason)));
            case DirectoryPublisher.Outcome.Blocked(String message) -> throw new IOException(message);
            case DirectoryPublisher.Outcome.Failed(String message) -> throw new IOException(message);
        }
    }

    private void show(Plan plan, DnsServer server) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(PlanTable.text(plan));
        out.print(Trial.text(List.copyOf(published.values()), server.address()));
        InetSocketAddress address = server.address();
        published.values().stream()
                .flatMap(zone -> zone.hosts().stream())
                .findFirst()
                .ifPresent(host -> out.println("Answering on %s port %d; try: dig @%s -p %d %s"
                        .formatted(
                                address.getAddress().getHostAddress(),
                                address.getPort(),
                                address.getAddress().getHostAddress(),
                                address.getPort(),
                                host.name())));
        out.flush();
    }

    /** Name, size and time of every manifest: what tells that something changed. */
    private List<String> fingerprint() throws IOException {
        List<String> prints = new ArrayList<>();
        try {
            for (Path file : Manifests.files(directory)) {
                BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
                prints.add("%s %d %s".formatted(file, attributes.size(), attributes.lastModifiedTime()));
            }
        } catch (ManifestException | java.nio.file.NoSuchFileException e) {
            prints.add(String.valueOf(e.getMessage()));
        }
        return prints;
    }
}
