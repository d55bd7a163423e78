package dev.apportion.e2e.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.apportion.e2e.bed.FaultProxy.Action;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The proxy does to requests what its rules say, and nothing else. */
@WithApiServer
class FaultProxyIT {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @SuppressWarnings("NullAway.Init") // set before each test
    private FaultProxy proxy;

    @SuppressWarnings("NullAway.Init") // set before each test
    private KubernetesClient through;

    @BeforeEach
    void start(ApiServer server, KubernetesClient client) throws IOException {
        proxy = FaultProxy.before(server);
        Config config = Config.fromKubeconfig(Files.readString(proxy.kubeconfig()));
        config.setNamespace(client.getNamespace());
        config.setRequestRetryBackoffLimit(0);
        through = new KubernetesClientBuilder().withConfig(config).build();
    }

    @AfterEach
    void stop() throws IOException {
        through.close();
        proxy.close();
    }

    private static ConfigMap greeting(String text) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("greeting")
                .endMetadata()
                .addToData("text", text)
                .build();
    }

    private static void await(String what, BooleanSupplier holds) {
        Awaitility.await(what).atMost(PATIENCE).until(holds::getAsBoolean);
    }

    @Test
    void passesRequestsOnAndTellsThemApart(KubernetesClient client) {
        through.resource(greeting("hello")).create();
        through.configMaps().list();

        assertThat(client.configMaps().withName("greeting").require().getData()).containsEntry("text", "hello");
        assertThat(proxy.exchanges())
                .extracting(Object::toString)
                .containsExactly(
                        "POST /api/v1/namespaces/%s/configmaps -> 201".formatted(client.getNamespace()),
                        "GET /api/v1/namespaces/%s/configmaps -> 200".formatted(client.getNamespace()));
        assertThat(proxy.writes()).hasSize(1);
        assertThat(proxy.writes().getFirst().request().body()).contains("hello");
        assertThat(proxy.exchanges().getLast().request().isList()).isTrue();
        FaultProxy.Request status = new FaultProxy.Request(
                "PATCH", "/apis/apportion.dev/v1alpha1/namespaces/a/dnszones/z/status", "", Map.of(), "", 0);
        assertThat(status.resource()).isEqualTo("dnszones/status");
        assertThat(status.name()).isEqualTo("z");
    }

    @Test
    void answersInPlaceOfTheServer(KubernetesClient client) {
        FaultProxy.Rule rule = proxy.next(
                1, FaultProxy.Request::isWrite, FaultProxy.failure(429, "TooManyRequests", "slowly", Map.of(), 7));

        assertThatThrownBy(() -> through.resource(greeting("hello")).create())
                .isInstanceOfSatisfying(KubernetesClientException.class, e -> {
                    assertThat(e.getCode()).isEqualTo(429);
                    assertThat(e.getStatus().getDetails().getRetryAfterSeconds())
                            .isEqualTo(7);
                });
        assertThat(client.configMaps().withName("greeting").get()).isNull();
        assertThat(rule.hits()).isEqualTo(1);
        through.resource(greeting("hello")).create();
        assertThat(client.configMaps().withName("greeting").get()).isNotNull();
        assertThat(rule.hits()).isEqualTo(1);
    }

    @Test
    void answersWithHeaders() throws Exception {
        proxy.always(
                FaultProxy.Request::isList,
                FaultProxy.failure(429, "TooManyRequests", "slowly", Map.of("Retry-After", "7"), 0));

        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(URI.create(proxy.url() + "/api/v1/namespaces/a/configmaps"))
                            .build(),
                    BodyHandlers.ofString());
            assertThat(response.statusCode()).isEqualTo(429);
            assertThat(response.headers().firstValue("Retry-After")).contains("7");
            assertThat(response.body()).contains("slowly").doesNotContain("retryAfterSeconds");
        }
    }

    @Test
    void dropsARequestOrOnlyItsAnswer(KubernetesClient client) {
        proxy.next(1, FaultProxy.Request::isWrite, new Action.Drop());
        proxy.next(1, FaultProxy.Request::isWrite, new Action.DropResponse());

        assertThatThrownBy(() -> through.resource(greeting("lost")).create())
                .isInstanceOf(KubernetesClientException.class);
        assertThat(client.configMaps().withName("greeting").get()).isNull();
        assertThatThrownBy(() -> through.resource(greeting("done")).create())
                .isInstanceOf(KubernetesClientException.class);
        assertThat(client.configMaps().withName("greeting").require().getData()).containsEntry("text", "done");
        assertThat(proxy.exchanges()).extracting(FaultProxy.Exchange::code).containsExactly(0, 201);
    }

    @Test
    void holdsARequestAndRunsHooksAroundIt(KubernetesClient client) {
        FaultProxy.Gate gate = new FaultProxy.Gate();
        proxy.next(1, FaultProxy.Request::isWrite, new Action.Hold(gate, new Action.Forward()));
        CompletableFuture<ConfigMap> held = CompletableFuture.supplyAsync(
                () -> through.resource(greeting("held")).create());
        gate.awaitArrival(PATIENCE);
        assertThat(client.configMaps().withName("greeting").get()).isNull();
        gate.release();
        assertThat(held.join().getData()).containsEntry("text", "held");

        CompletableFuture<String> seen = new CompletableFuture<>();
        proxy.next(
                1,
                FaultProxy.Request::isWrite,
                new Action.After(() -> seen.complete(client.configMaps()
                        .withName("greeting")
                        .require()
                        .getData()
                        .get("text"))));
        through.resource(greeting("after")).update();
        assertThat(seen).isCompletedWithValue("after");
    }

    @Test
    void cutsAndDelaysWatches(KubernetesClient client) {
        try (SharedIndexInformer<ConfigMap> informer =
                through.configMaps().withName("greeting").inform(new Ignore())) {
            assertThat(proxy.openWatches()).isEqualTo(1);
            client.resource(greeting("first")).create();
            await("the first event", () -> texts(informer).equals(List.of("first")));

            proxy.cutWatches();
            client.resource(greeting("second")).update();
            await("the second event", () -> texts(informer).equals(List.of("second")));

            proxy.delayWatches(Duration.ofMillis(500));
            long since = System.nanoTime();
            client.resource(greeting("third")).update();
            await("the third event", () -> texts(informer).equals(List.of("third")));
            assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThan(Duration.ofMillis(500));
        }
    }

    @Test
    void tellsAWatchToListAgain(KubernetesClient client) {
        try (SharedIndexInformer<ConfigMap> informer =
                through.configMaps().withName("greeting").inform(new Ignore())) {
            FaultProxy.Rule rule = proxy.next(1, FaultProxy.Request::isWatch, new Action.Expire());
            proxy.forgetRequests();
            proxy.cutWatches();
            client.resource(greeting("listed")).create();

            await("the object", () -> texts(informer).equals(List.of("listed")));
            assertThat(rule.hits()).isEqualTo(1);
            assertThat(proxy.exchanges())
                    .anySatisfy(
                            exchange -> assertThat(exchange.request().isList()).isTrue());
        }
    }

    @Test
    void goesAwayFallsSilentAndComesBack() throws IOException {
        through.resource(greeting("hello")).create();
        proxy.refuse();
        assertThatThrownBy(() -> through.configMaps().withName("greeting").get())
                .isInstanceOf(KubernetesClientException.class)
                .hasStackTraceContaining("ConnectException");
        proxy.comeBack();
        assertThat(through.configMaps().withName("greeting").get()).isNotNull();

        proxy.fallSilent();
        CompletableFuture<ConfigMap> asked = CompletableFuture.supplyAsync(
                () -> through.configMaps().withName("greeting").get());
        assertThatThrownBy(() -> asked.get(500, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        proxy.comeBack();
        await("the end of what was asked into the silence", asked::isDone);
        assertThat(through.configMaps().withName("greeting").get()).isNotNull();
    }

    private static List<String> texts(SharedIndexInformer<ConfigMap> informer) {
        return informer.getStore().list().stream()
                .map(found -> found.getData().getOrDefault("text", ""))
                .toList();
    }

    /** An informer needs a handler. */
    private record Ignore() implements ResourceEventHandler<ConfigMap> {

        @Override
        public void onAdd(ConfigMap added) {}

        @Override
        public void onUpdate(ConfigMap before, ConfigMap after) {}

        @Override
        public void onDelete(ConfigMap deleted, boolean unknown) {}
    }
}
