package dev.apportion.image;

import dev.apportion.api.ApportionResource;
import io.fabric8.kubernetes.api.model.APIResourceBuilder;
import io.fabric8.kubernetes.api.model.APIResourceListBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.ServerRequest;
import io.fabric8.mockwebserver.ServerResponse;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.vertx.core.net.SelfSignedCertificate;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/**
 * A run of the packaged operator against an API server that is a mock within this process: it starts, plans and publishes an
 * example, is scraped, and stops. From it the Java runtime learns what the AOT cache has to hold (JEP 514).
 */
public final class Rehearsal {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final String GROUP = "apportion.dev";
    private static final String VERSION = "v1alpha1";

    private static final Map<String, String> KINDS = Map.of(
            "dnszones", "DNSZone",
            "replicapools", "ReplicaPool",
            "trafficservices", "TrafficService",
            "trafficstreams", "TrafficStream");

    private Rehearsal() {}

    /** Takes a folder for the log and the token, a manifest, and the command that runs {@code apportion}. */
    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> arguments = List.of(args);
        Path folder = Files.createDirectories(Path.of(arguments.get(0)));
        Path manifest = Path.of(arguments.get(1));
        List<String> program = arguments.subList(2, arguments.size());
        Map<ServerRequest, Queue<ServerResponse>> answers = new HashMap<>();
        SelfSignedCertificate certificate = SelfSignedCertificate.create("localhost");
        try (MockWebServer web = new MockWebServer();
                InputStream resources = Files.newInputStream(manifest)) {
            KubernetesMockServer server = new KubernetesMockServer(
                    new Context(), web, answers, new StatusDispatcher(answers), /* useHttps */ false);
            web.setHttp2ClearTextEnabled(true);
            server.init(InetAddress.getLoopbackAddress(), 0);
            serveKinds(server);
            try (KubernetesClient client = server.createClient();
                    TlsFront front = TlsFront.open(certificate, web.getPort())) {
                client.load(resources)
                        .items()
                        .forEach(resource -> client.resource(resource).create());
                for (String plural : KINDS.keySet()) {
                    client.load(definition(plural)).create();
                }
                rehearse(program, folder, asInPod(front.port(), certificate, folder), client);
            }
        }
        certificate.delete();
    }

    private static InputStream definition(String plural) {
        return Objects.requireNonNull(
                ApportionResource.class.getResourceAsStream("crds/%s.%s-v1.yaml".formatted(plural, GROUP)));
    }

    /** Takes a status by server-side apply, which the mock lacks, as it is. */
    private static final class StatusDispatcher extends KubernetesMixedDispatcher {

        StatusDispatcher(Map<ServerRequest, Queue<ServerResponse>> answers) {
            super(answers);
        }

        @Override
        public MockResponse dispatch(RecordedRequest request) {
            String path = request.getPath();
            if ("PATCH".equals(request.getMethod()) && path != null && path.contains("/status?")) {
                return new MockResponse()
                        .setResponseCode(HttpURLConnection.HTTP_OK)
                        .setBody(request.getUtf8Body());
            }
            return super.dispatch(request);
        }
    }

    private static void serveKinds(KubernetesMockServer server) {
        KINDS.forEach((plural, kind) -> server.expectCustomResource(new CustomResourceDefinitionContext.Builder()
                .withGroup(GROUP)
                .withVersion(VERSION)
                .withScope("Namespaced")
                .withPlural(plural)
                .withKind(kind)
                .withStatusSubresource(true)
                .build()));
        server.expect()
                .get()
                .withPath("/apis/%s/%s".formatted(GROUP, VERSION))
                .andReturn(
                        HttpURLConnection.HTTP_OK,
                        new APIResourceListBuilder()
                                .withGroupVersion(GROUP + "/" + VERSION)
                                .withResources(KINDS.entrySet().stream()
                                        .map(kind -> new APIResourceBuilder()
                                                .withName(kind.getKey())
                                                .withKind(kind.getValue())
                                                .withNamespaced(true)
                                                .build())
                                        .toList())
                                .build())
                .always();
    }

    /**
     * What tells a process in a pod where its API server is; a kubeconfig would have more read than the operator needs. The
     * client library knows each by the name of a system property as well.
     */
    private static Map<String, String> asInPod(int port, SelfSignedCertificate certificate, Path folder)
            throws IOException {
        return Map.of(
                "KUBERNETES_SERVICE_HOST",
                "localhost",
                "KUBERNETES_SERVICE_PORT",
                String.valueOf(port),
                "KUBERNETES_CERTS_CA_FILE",
                certificate.certificatePath(),
                "KUBERNETES_AUTH_SERVICEACCOUNT_TOKEN",
                Files.writeString(folder.resolve("token"), "none").toString(),
                "KUBERNETES_NAMESPACE",
                "default",
                "KUBERNETES_AUTH_TRYKUBECONFIG",
                "false");
    }

    private static void rehearse(
            List<String> program, Path folder, Map<String, String> environment, KubernetesClient client)
            throws IOException, InterruptedException {
        Path log = folder.resolve("rehearsal.log");
        List<String> command = new ArrayList<>(program);
        command.add("operator");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        Process operator = builder.start();
        Thread end = new Thread(operator::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(end);
        await(
                "publishes",
                operator,
                log,
                () -> !client.configMaps().inAnyNamespace().list().getItems().isEmpty());
        scrape(log);
        operator.destroy();
        if (!operator.waitFor(PATIENCE) || operator.exitValue() != 0) {
            throw new IllegalStateException("the operator did not stop well; its log:\n" + Files.readString(log));
        }
        Runtime.getRuntime().removeShutdownHook(end);
    }

    private static void await(String what, Process operator, Path log, BooleanSupplier condition)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (!operator.isAlive() || System.nanoTime() > end) {
                throw new IllegalStateException(
                        "waited in vain until the operator " + what + "; its log:\n" + Files.readString(log));
            }
            Thread.sleep(POLL);
        }
    }

    private static void scrape(Path log) throws IOException, InterruptedException {
        String address = Files.readString(log)
                .lines()
                .filter(line -> line.contains("Serving /healthz"))
                .map(line -> line.replaceAll(".*address=\"/?([0-9.:]+)\".*", "$1"))
                .findFirst()
                .orElseThrow();
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (String path : List.of("/healthz", "/readyz", "/metrics")) {
                var _ = http.send(
                        HttpRequest.newBuilder(URI.create("http://" + address + path))
                                .build(),
                        HttpResponse.BodyHandlers.discarding());
            }
        }
    }
}
