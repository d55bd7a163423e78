package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.ContainerImage;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.ServerProcess;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The container image: what is in it, and that its commands work where a container may do the least. */
@WithApiServer
@EnabledIfSystemProperty(
        named = ImageIT.ARCHIVE,
        matches = ".+",
        disabledReason = "the image is built with -Pimage, and tested then (Linux, root)")
class ImageIT {

    static final String ARCHIVE = "apportion.image";

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final Pattern AUTHORITY = Pattern.compile("certificate-authority: (\\S+)");

    /** The time of all files: what a build says of when it ran is not the same in the next one. */
    private static final String ONE_SECOND = " 1970-01-01 00:00:01 ";

    /** With this the program ends where it could not use its AOT cache. */
    private static final Map<String, String> CACHE_REQUIRED = Map.of("JDK_JAVA_OPTIONS", "-XX:AOTMode=on");

    @TempDir
    @SuppressWarnings("NullAway.Init") // set before all tests
    static Path unpacked;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static ContainerImage image;

    @BeforeAll
    static void unpack() throws IOException {
        image = ContainerImage.unpack(Path.of(System.getProperty(ARCHIVE)), unpacked);
        visible(unpacked);
    }

    /** Lets the user of the image see a folder. */
    private static void visible(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void saysWhatItIs() {
        JsonNode config = image.config();
        assertThat(image.tags())
                .singleElement()
                .asString()
                .startsWith("apportion:")
                .doesNotContain("latest");
        assertThat(config.at("/config/User").asText()).isEqualTo("65532:65532");
        assertThat(image.defaultArguments()).containsExactly("operator");
        assertThat(config.at("/config/Labels/org.opencontainers.image.version").asText())
                .isEqualTo(image.tags().getFirst().substring("apportion:".length()));
    }

    @Test
    void nothingInItTellsWhenOrByWhomItWasBuilt() {
        assertThat(image.entries()).isNotEmpty().allMatch(entry -> entry.contains(ONE_SECOND));
        assertThat(image.entries()).allMatch(entry -> entry.split("\\s+", 3)[1].equals("0/0"));
        assertThat(image.config().get("created").asText()).startsWith("1970-01-01T00:00:00");
    }

    @Test
    void holdsLicencesAndTheBillOfMaterialsOfEveryJar() throws IOException {
        assertThat(image.root().resolve("usr/share/doc/apportion/LICENSE")).isNotEmptyFile();
        assertThat(image.root().resolve("usr/share/common-licenses/LGPL-2.1")).isNotEmptyFile();
        assertThat(image.root().resolve("usr/share/doc/libc6/copyright"))
                .content()
                .contains("Lesser General Public");
        assertThat(image.root().resolve("opt/apportion/runtime/legal/java.base/LICENSE"))
                .content()
                .contains("CLASSPATH");
        ObjectMapper json = new ObjectMapper();
        Path folder = image.root().resolve("usr/share/sbom");
        List<String> jars = json
                .readTree(folder.resolve("apportion.cdx.json").toFile())
                .get("components")
                .findValuesAsText("purl")
                .stream()
                .map(purl -> purl.replaceAll(".*/(.*)@([^?]*).*", "$1-$2.jar"))
                .toList();
        List<String> libraries = image.files("opt/apportion/lib").stream()
                .filter(file -> file.endsWith(".jar") && !file.equals("apportion.jar"))
                .toList();
        assertThat(libraries).isNotEmpty().isSubsetOf(jars);
        assertThat(json.readTree(folder.resolve("system.cdx.json").toFile())
                        .get("components")
                        .findValuesAsText("version"))
                .hasSize(2)
                .noneMatch(String::isBlank);
    }

    @Test
    void itsCommandsPlanWithinAReadOnlyRoot(@TempDir Path folder) throws IOException {
        visible(folder);
        Path quickstart = SourceTree.root().resolve("examples/quickstart/quickstart.yaml");
        Path manifest = Files.copy(quickstart, folder.resolve("schön.yaml"));
        Apportion program = image.program(folder, CACHE_REQUIRED);
        assertThat(program.run("--help").orThrow().stdout()).contains("operator", "sync", "local", "plan");
        Command.Result plan = program.run("plan", "-f", manifest.toString()).orThrow();
        assertThat(plan.stdout())
                .contains("192.0.2.10")
                .isEqualTo(Apportion.packaged()
                        .run("plan", "-f", quickstart.toString())
                        .orThrow()
                        .stdout());
        assertThat(program.run("local", folder.toString(), "--out", "/out").exitCode())
                .as("nothing can be written")
                .isEqualTo(1);
    }

    @Test
    void itsOperatorIsReadySoonAndPublishes(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException, InterruptedException {
        visible(folder);
        Path kubeconfig = Files.writeString(
                folder.resolve("kubeconfig"),
                AUTHORITY.matcher(Files.readString(server.kubeconfig())).replaceAll(ImageIT::embedded));
        String manifests = Files.readString(SourceTree.root().resolve("examples/quickstart/quickstart.yaml"))
                .replaceAll("namespace: (dns|web)", "namespace: " + kubectl.namespace());
        kubectl.runWith(manifests, "apply", "-f", "-").orThrow();
        Apportion program = image.program(folder, Map.of("KUBECONFIG", kubeconfig.toString()));
        long since = System.nanoTime();
        try (ServerProcess operator = program.start("operator", "--namespaces", kubectl.namespace())) {
            Product.awaitStart(operator);
            Probes probes = Probes.of(operator);
            operator.await("readiness", PATIENCE, () -> probes.get("/readyz").startsWith("200"));
            long ready = Duration.ofNanos(System.nanoTime() - since).toMillis();
            kubectl.run("wait", "--for=condition=Ready", "--timeout=60s", "trafficservice/shop")
                    .orThrow();
            assertThat(probes.get("/metrics")).contains("apportion_answer_weight");
            Thread.sleep(IDLE);
            System.out.printf(
                    "the operator of the image: ready after %d ms, %d MiB when idle; %d MiB of it are its own%n",
                    ready, operator.residentKibibytes() >> 10, ownKibibytes(operator) >> 10);
            operator.terminate();
            assertThat(operator.awaitExit(PATIENCE)).as(operator.log()).isZero();
            assertThat(operator.log()).contains("Stopped").doesNotContain("[warning]", "[error");
        }
    }

    private static String embedded(MatchResult file) {
        try {
            return "certificate-authority-data: "
                    + Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(file.group(1))));
        } catch (IOException e) {
            throw new AssertionError("The certificate of the test server is to be read", e);
        }
    }

    /** The memory that is not a clean copy of a file. */
    private static long ownKibibytes(ServerProcess operator) throws IOException {
        return Files.readAllLines(Path.of("/proc/%d/status".formatted(operator.pid()))).stream()
                .filter(line -> line.startsWith("RssAnon:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .sum();
    }
}
