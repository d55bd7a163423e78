package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.SourceTree;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xbill.DNS.Type;

/** The program over a folder of manifests, without a cluster. */
class LocalIT {

    private static final Pattern ANSWERING = Pattern.compile("Answering on 127\\.0\\.0\\.1 port (\\d+)");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    private Path folder;

    private Path manifests() throws IOException {
        Path manifests = Files.createDirectories(folder.resolve("manifests"));
        Files.copy(
                SourceTree.root().resolve("examples/quickstart/quickstart.yaml"), manifests.resolve("quickstart.yaml"));
        return manifests;
    }

    private static DnsServer answering(ServerProcess local) {
        Matcher line = local.awaitLine(ANSWERING, PATIENCE);
        return new DnsServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(line.group(1))));
    }

    @Test
    void answersLikeCoreDnsOnItsFilesAndFollowsChanges() throws IOException {
        Path manifests = manifests();
        Path out = folder.resolve("out");
        try (ServerProcess local = Apportion.packaged().start("local", manifests.toString(), "--out", out.toString())) {
            DnsServer own = answering(local);
            try (CoreDns coreDns = CoreDns.start(out)) {
                Question question = Question.of("shop.example.org", Type.A);
                assertThat(own.slots(question).counts())
                        .isEqualTo(coreDns.server().slots(question).counts())
                        .isEqualTo(Map.of("192.0.2.10", 99L, "192.0.2.11", 50L, "192.0.2.20", 107L));

                String text = Files.readString(manifests.resolve("quickstart.yaml"));
                long since = System.nanoTime();
                Files.writeString(
                        manifests.resolve("quickstart.yaml"),
                        text.replace(
                                "{name: nyc-1, address: 192.0.2.20, capacity: 100}",
                                "{name: nyc-1, address: 192.0.2.20, capacity: 4000}"));
                Awaitility.await()
                        .atMost(PATIENCE)
                        .pollInterval(Duration.ofMillis(10))
                        .until(() -> own.slots(question).count("192.0.2.20") == 256);
                long own1 = Duration.ofNanos(System.nanoTime() - since).toMillis();
                System.out.printf("a changed file is answered after %d ms%n", own1);
                assertThat(own1).isLessThan(3000);
                Awaitility.await()
                        .atMost(PATIENCE)
                        .until(() -> coreDns.server().slots(question).count("192.0.2.20") == 256);

                Files.writeString(manifests.resolve("broken.yaml"), "kind: [unclosed\nmore: }");
                local.awaitLine(Pattern.compile("broken\\.yaml:\\d+:\\d+: "), PATIENCE);
                assertThat(own.slots(question).count("192.0.2.20")).isEqualTo(256);
            }
        }
    }

    /** One edit, and then nothing happens to the folder any more. */
    @Test
    void whatOneChangeMayNotMoveFollowsByItself() throws IOException {
        Path manifests = manifests();
        Path file = manifests.resolve("quickstart.yaml");
        Files.writeString(
                file,
                Files.readString(file)
                        .replaceFirst(
                                "(kind: ReplicaPool\n[\\s\\S]*?spec:\n)", "$1  behavior: {maxShiftPercent: 10}\n"));
        try (ServerProcess local = Apportion.packaged().start("local", manifests.toString())) {
            DnsServer own = answering(local);
            Question question = Question.of("shop.example.org", Type.A);
            long before = own.slots(question).count("192.0.2.20");
            Files.writeString(
                    file,
                    Files.readString(file)
                            .replace(
                                    "{name: nyc-1, address: 192.0.2.20, capacity: 100}",
                                    "{name: nyc-1, address: 192.0.2.20, capacity: 4000}"));
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> own.slots(question).count("192.0.2.20") != before);
            assertThat(own.slots(question).count("192.0.2.20")).isLessThan(256);
            Awaitility.await().atMost(PATIENCE).until(() -> own.slots(question).count("192.0.2.20") >= 240);
        }
    }

    @Test
    void sameInputInAnyOrderAndLocaleGivesTheSameBytes() throws IOException {
        Path manifests = folder.resolve("all");
        Files.createDirectories(manifests);
        List<String> documents = new ArrayList<>();
        for (Path example : SourceTree.examples()) {
            try (Stream<Path> files = Files.list(example)) {
                for (Path file : files.sorted().toList()) {
                    documents.addAll(Arrays.asList(Files.readString(file).split("(?m)^---$")));
                }
            }
        }
        String expected = "";
        Map<String, String> expectedFiles = Map.of();
        String[] locales = {
            "",
            "-Duser.language=tr -Duser.country=TR",
            "-Duser.language=ar",
            "-Duser.language=th -Duser.country=TH -Duser.variant=TH"
        };
        for (int run = 0; run < locales.length; run++) {
            Files.writeString(manifests.resolve("all.yaml"), String.join("\n---\n", documents));
            Apportion program =
                    new Apportion(Apportion.packaged().program(), Map.of("APPORTION_JAVA_OPTIONS", locales[run]));
            Command.Result plan = program.run("plan", "-o", "json", "-f", manifests.toString());
            assertThat(plan.exitCode()).as(plan.toString()).isZero();
            Map<String, String> files = rendered(program, manifests, folder.resolve("out-" + run));
            if (run == 0) {
                expected = plan.stdout();
                expectedFiles = files;
            }
            assertThat(plan.stdout()).isEqualTo(expected);
            assertThat(files).isEqualTo(expectedFiles).hasSizeGreaterThan(20);
            Collections.shuffle(documents, new Random(run));
        }
    }

    /** What {@code local --out} writes, by file; the folder's own name is left out. */
    private static Map<String, String> rendered(Apportion program, Path manifests, Path out) throws IOException {
        try (ServerProcess local = program.start("local", manifests.toString(), "--out", out.toString())) {
            answering(local);
        }
        Map<String, String> files = new HashMap<>();
        try (Stream<Path> written = Files.list(out)) {
            for (Path file : written.toList()) {
                files.put(file.getFileName().toString(), Files.readString(file).replace(out.toString(), "OUT"));
            }
        }
        return files;
    }
}
