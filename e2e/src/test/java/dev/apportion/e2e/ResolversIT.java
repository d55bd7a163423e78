package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.Bind;
import dev.apportion.e2e.bed.ClusterDns;
import dev.apportion.e2e.bed.CoreDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.LoopbackPorts;
import dev.apportion.e2e.bed.Unbound;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Weights are judged through real resolvers, and what does not honour them is named. */
@WithApiServer
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ResolversIT {

    /** The time to live, five seconds more, and up to 1000 questions at 50 a second, by more than one test at a time. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Product product;

    @SuppressWarnings("NullAway.Init") // set before all tests
    private Path folder;

    @BeforeAll
    void start(ApiServer server, Kubectl kubectl, @TempDir Path temporary) throws IOException {
        folder = temporary;
        product = Product.start(
                server,
                kubectl,
                newFolder("authoritative"),
                "--verify-grace",
                "PT1S",
                "--verify-interval",
                "PT1S",
                "--resolver-interval",
                "PT2S");
    }

    @AfterAll
    void stop() throws IOException {
        product.close();
    }

    private Path newFolder(String name) throws IOException {
        return Files.createDirectory(folder.resolve(name));
    }

    /** A zone {@code NAME.example} with the host {@code www}, 4:1 on two addresses. */
    private void publish(String name, String answers, int... resolvers) {
        product.apply("""
            apiVersion: apportion.dev/v1alpha1
            kind: DNSZone
            metadata: {name: %1$s}
            spec:
              domain: %1$s.example
              ttlSeconds: 1
              coreDNS: {answers: %2$s}
              verifyAt: {addresses: ["127.0.0.1:PORT"]}
              resolvers: {addresses: [%3$s]}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: ReplicaPool
            metadata: {name: %1$s}
            spec:
              sites:
              - name: main
                endpoints:
                - {name: a, address: 192.0.2.1, capacity: 400}
                - {name: b, address: 192.0.2.2, capacity: 100}
            ---
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: %1$s}
            spec: {zoneRef: {name: %1$s}, hostname: www.%1$s.example, poolRef: {name: %1$s}}
            """.formatted(name, answers, addresses(resolvers)));
    }

    private static String addresses(int... resolvers) {
        return Arrays.stream(resolvers).mapToObj("\"127.0.0.1:%d\""::formatted).collect(Collectors.joining(", "));
    }

    private void resolvers(String name, int... resolvers) {
        product.kubectl(
                "patch",
                "dnszone/" + name,
                "--type=merge",
                "-p",
                "{\"spec\":{\"resolvers\":%s}}"
                        .formatted(resolvers.length == 0 ? "null" : "{\"addresses\":[" + addresses(resolvers) + "]}"));
    }

    /** Waits for zone and service; returns what the service says. */
    private String judged(String name, String start) {
        for (String kind : new String[] {"dnszone/", "trafficservice/"}) {
            Awaitility.await(kind + name + " " + start)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> product.condition(kind + name, "WeightsHonored"), found -> found.startsWith(start));
        }
        return product.condition("trafficservice/" + name, "WeightsHonored");
    }

    @Test
    void theClustersServerHonoursWeightsWhenItForwardsAndPinsOrShufflesThemWhenItCaches() throws IOException {
        int authoritative = product.coreDns().port();
        try (CoreDns forwarding = ClusterDns.forwarding(newFolder("forwarding"), "example", authoritative);
                CoreDns caching = ClusterDns.caching(newFolder("caching"), authoritative)) {
            publish("forwarded", "Single", forwarding.port());
            publish("forwarded-list", "List", forwarding.port());
            publish("cached", "Single", caching.port());
            publish("cached-list", "List", forwarding.port(), caching.port());

            assertThat(judged("forwarded", "True WeightsHonored"))
                    .contains("www.forwarded.example", "127.0.0.1:" + forwarding.port());
            judged("forwarded-list", "True WeightsHonored");
            assertThat(judged("cached", "False ResolverPins"))
                    .contains("127.0.0.1:" + caching.port(), "www.cached.example", "without a cache");
            assertThat(judged("cached-list", "False ResolverShuffles"))
                    .contains("127.0.0.1:" + caching.port(), "www.cached-list.example", "answers to Single")
                    .doesNotContain("127.0.0.1:" + forwarding.port());
            assertThat(product.condition("trafficservice/cached", "Ready")).startsWith("True");
        }
    }

    @Test
    void unboundPinsSingleUnlessItDoesNotCacheAndShufflesList() throws IOException {
        int authoritative = product.coreDns().port();
        try (Unbound caching = Unbound.forwarding("unbound.example", authoritative);
                Unbound uncached = Unbound.forwardingUncached("unbound-uncached.example", authoritative);
                Unbound list = Unbound.forwarding("unbound-list.example", authoritative)) {
            publish("unbound", "Single", caching.port());
            publish("unbound-uncached", "Single", uncached.port());
            publish("unbound-list", "List", list.port());

            judged("unbound", "False ResolverPins");
            judged("unbound-uncached", "True WeightsHonored");
            judged("unbound-list", "False ResolverShuffles");
        }
    }

    @Test
    void bindPinsSingleAndShufflesList() throws IOException {
        int authoritative = product.coreDns().port();
        try (Bind single = Bind.forwarding("bind.example", authoritative);
                Bind list = Bind.forwarding("bind-list.example", authoritative)) {
            publish("bind", "Single", single.port());
            publish("bind-list", "List", list.port());

            judged("bind", "False ResolverPins");
            judged("bind-list", "False ResolverShuffles");
        }
    }

    @Test
    void aResolverThatIsDeadOrKnowsNothingOfTheZoneIsNamedAndWithoutAnyThereIsNoVerdict() throws IOException {
        int authoritative = product.coreDns().port();
        int dead = LoopbackPorts.free();
        try (CoreDns forwarding = ClusterDns.forwarding(newFolder("alive"), "example", authoritative);
                Unbound foreign = Unbound.forwarding("elsewhere.example", authoritative)) {
            publish("dead", "Single", forwarding.port(), dead);
            publish("elsewhere", "Single", foreign.port());
            publish("foreign", "Single", foreign.port());

            assertThat(judged("dead", "Unknown ResolverSilent"))
                    .contains("127.0.0.1:" + dead)
                    .doesNotContain("127.0.0.1:" + forwarding.port());
            judged("elsewhere", "False ResolverPins");
            assertThat(judged("foreign", "Unknown NotResolved")).contains("127.0.0.1:" + foreign.port());

            resolvers("dead", forwarding.port());
            judged("dead", "True WeightsHonored");
            resolvers("dead");
            judged("dead", "Unknown NoResolvers");
        }
    }
}
