package dev.apportion.cli;

import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.DirectoryPublisher;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code apportion sync}: a CoreDNS outside the cluster sees the same files as one inside. */
@Command(
        name = "sync",
        description = "Copies the operator's zone ConfigMaps into a folder, for a CoreDNS outside the cluster.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:stopped cleanly", "1:a fatal error", "2:bad options"})
final class SyncCommand implements Callable<Integer> {

    private static final Logger LOG = LoggerFactory.getLogger(SyncCommand.class);

    /** How long the process lives on for a clean stop. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** After so long CoreDNS has loaded what was changed last: it looks every two seconds. */
    private static final Duration LOADED = Duration.ofSeconds(4);

    @Parameters(
            paramLabel = "DIR",
            description =
                    "The folder to write; a Corefile is put there where there is none: coredns -conf DIR/Corefile")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path directory;

    @Option(
            names = {"-n", "--namespace"},
            description = "The namespace of the DNSZones; default: that of the current context.")
    private @Nullable String namespace;

    @Option(
            names = "--config-map",
            defaultValue = "apportion-coredns",
            description = "The name of the ConfigMaps without their number; default: ${DEFAULT-VALUE}.")
    private String configMap = "apportion-coredns";

    @Override
    public Integer call() throws IOException, InterruptedException {
        CorefileFolder.prepare(directory);
        Semaphore changes = new Semaphore(0);
        try (Termination termination = new Termination(PATIENCE, changes::release);
                KubernetesClient client = new KubernetesClientBuilder().build()) {
            String watched = Objects.requireNonNullElseGet(
                    namespace, () -> Objects.requireNonNullElse(client.getNamespace(), "default"));
            try (SharedIndexInformer<ConfigMap> informer = client.configMaps()
                    .inNamespace(watched)
                    .withLabelSelector(CoreDnsLayout.SELECTOR)
                    .runnableInformer(0)) {
                informer.addEventHandler(new Wake(changes));
                // What has begun goes on, whatever the API server says in between.
                informer.exceptionHandler((started, failure) -> started);
                informer.run();
                LOG.atInfo()
                        .addKeyValue("namespace", watched)
                        .addKeyValue("directory", directory)
                        .log("Following the zones' ConfigMaps");
                follow(informer, new DirectoryPublisher(directory), changes, termination);
            }
            LOG.info("Stopped");
        }
        return CommandLine.ExitCode.OK;
    }

    /** Copies at every change. When CoreDNS has loaded the last configuration, it gets another edition, since it may have missed one. */
    private void follow(
            SharedIndexInformer<ConfigMap> informer,
            DirectoryPublisher publisher,
            Semaphore changes,
            Termination termination)
            throws InterruptedException {
        int edition = 0;
        OptionalLong due = copy(informer, publisher, edition) ? inTime() : OptionalLong.empty();
        while (!termination.isAsked()) {
            boolean isChange = true;
            if (due.isPresent()) {
                isChange = changes.tryAcquire(due.getAsLong() - System.nanoTime(), TimeUnit.NANOSECONDS);
            } else {
                changes.acquire();
            }
            if (isChange) {
                changes.drainPermits();
                due = copy(informer, publisher, edition) ? inTime() : due;
            } else {
                copy(informer, publisher, ++edition);
                due = OptionalLong.empty();
            }
        }
    }

    private static OptionalLong inTime() {
        return OptionalLong.of(System.nanoTime() + LOADED.toNanos());
    }

    /** Whether CoreDNS has another configuration to load. */
    private boolean copy(SharedIndexInformer<ConfigMap> informer, DirectoryPublisher publisher, int edition) {
        Map<Integer, Map<String, String>> shards = new HashMap<>();
        for (ConfigMap found : informer.getStore().list()) {
            shard(found).ifPresent(shard -> shards.put(shard, Objects.requireNonNullElse(found.getData(), Map.of())));
        }
        return switch (publisher.mirror(shards, edition)) {
            case DirectoryPublisher.Outcome.Written written -> {
                if (written.isChange()) {
                    LOG.atInfo()
                            .addKeyValue("written", written.written())
                            .addKeyValue("removed", written.removed())
                            .log("Copied");
                }
                written.refused()
                        .forEach((domain, reason) -> LOG.atWarn()
                                .addKeyValue("domain", domain)
                                .addKeyValue("reason", reason)
                                .log("A zone stays as it was"));
                yield written.isConfiguration();
            }
            case DirectoryPublisher.Outcome.Blocked(String message) -> {
                LOG.error(message);
                yield false;
            }
            case DirectoryPublisher.Outcome.Failed(String message) -> {
                LOG.error(message);
                yield false;
            }
        };
    }

    /** The number at the end of a ConfigMap's name. */
    private Optional<Integer> shard(ConfigMap found) {
        String name = found.getMetadata().getName();
        String number = name.startsWith(configMap + "-") ? name.substring(configMap.length() + 1) : "";
        return number.matches("[0-9]{1,3}") ? Optional.of(Integer.parseInt(number)) : Optional.empty();
    }

    /** Wakes the copier; several changes at once make one copy. */
    private record Wake(Semaphore changes) implements ResourceEventHandler<ConfigMap> {

        @Override
        public void onAdd(ConfigMap added) {
            changes.release();
        }

        @Override
        public void onUpdate(ConfigMap before, ConfigMap after) {
            changes.release();
        }

        @Override
        public void onDelete(ConfigMap deleted, boolean unknown) {
            changes.release();
        }
    }
}
