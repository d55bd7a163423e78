package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Apportion;
import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.ExternalDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.Question;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.xbill.DNS.Type;

/** Every example is planned without a problem, applied as it stands, and answered by CoreDNS, or told to ExternalDNS, as planned. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExamplesIT {

    private static final ObjectMapper JSON = new ObjectMapper();

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path folder) throws IOException {
        ExternalDns.installDefinition(server);
        product = Product.start(server, kubectl, folder, "--route53-interval", "PT1S");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    static List<Path> examples() throws IOException {
        return SourceTree.examples();
    }

    @ParameterizedTest
    @MethodSource("examples")
    void isPlannedAppliedAndAnswered(Path example, @TempDir Path folder) throws IOException {
        try (Stream<Path> files = Files.list(example)) {
            for (Path file : files.sorted().toList()) {
                // The examples' own namespaces would meet those of other tests.
                Files.writeString(
                        folder.resolve(file.getFileName()),
                        Files.readString(file)
                                .replaceAll("namespace: (web|dns)\\b", "namespace: " + product.namespace()));
            }
        }
        Command.Result planned = Apportion.packaged().run("plan", "-o", "json", "-f", folder.toString());
        assertThat(planned.exitCode()).as(planned.toString()).isZero();
        JsonNode plan = JSON.readTree(planned.stdout());
        assertThat(plan.path("problems")).isEmpty();

        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                product.apply(Files.readString(file));
            }
        }
        for (JsonNode endpoint : plan.path("endpoints")) {
            String resource = "dnsendpoint/" + endpoint.at("/metadata/name").asText();
            product.await(
                    () -> JSON.readTree(product.kubectl("get", resource, "--ignore-not-found", "-o", "json"))
                            .path("spec"),
                    endpoint.path("spec")::equals,
                    resource);
        }
        for (JsonNode pool : plan.path("pools")) {
            for (JsonNode stream : pool.path("streams")) {
                product.awaitReady("trafficservice/" + stream.path("service").asText());
                boolean forEveryone = stream.path("stream").isNull()
                        || stream.path("stream").asText().matches("everyone-else|.*-(others|all)");
                if (forEveryone && plan.path("endpoints").isEmpty()) {
                    answersAre(stream);
                }
            }
        }
    }

    private void answersAre(JsonNode stream) {
        String host = stream.path("hostname").asText();
        Map<String, Long> weights = new TreeMap<>();
        for (JsonNode answer : stream.path("answers")) {
            if (!answer.path("address").asText().contains(":")) {
                weights.put(
                        answer.path("address").asText(), answer.path("weight").asLong());
            }
        }
        long sum = weights.values().stream().mapToLong(Long::longValue).sum();
        if (sum == 256) {
            product.await(() -> product.dns().slots(Question.of(host, Type.A)).counts(), weights::equals, host);
        } else {
            product.await(
                    () -> Set.copyOf(
                            product.dns().ask(Question.of(host, Type.A)).addresses(Type.A)),
                    weights.keySet()::equals,
                    host);
        }
    }
}
