package dev.apportion.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExplainCommandTest {

    private static final String QUICKSTART = "../examples/quickstart";

    @TempDir
    private Path folder;

    @Test
    void aPoolFromItsReplicasToTheIntegers() {
        Run run = Run.of("explain", "web/shop", "-f", QUICKSTART);

        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .contains("ReplicaPool web/shop, policy KSplittable, 3 of 3 replicas ready")
                .contains("no allocation has a smaller one than 75.00%, so this is within 0.31% of the best")
                .contains("  replica fra-1, site fra: ready", "    bears 200 requests/s", "    capacity declared")
                .contains("gets 25.08% of all traffic, a load of 75.23%; its level is 75.00%")
                .containsPattern("(?m)^    192\\.0\\.2\\.10 +fra-1 +66\\.67% +171 +66\\.80% +\\+0\\.20%$");
    }

    /** A stream, with the replicas that it uses; its name may be that of its host. */
    @Test
    void aStreamAlone() {
        assertThat(Run.of("explain", "shop-eu", "-f", QUICKSTART).out())
                .contains("replica fra-2", "stream shop-eu of shop.example.org: 120 requests/s", "only from fra")
                .doesNotContain("nyc-1", "shop-others");
        assertThat(Run.of("explain", "Shop.Example.org", "-f", QUICKSTART).out())
                .contains("shop-eu", "shop-others", "nyc-1");
    }

    @Test
    void whatThePolicySawAndWhatKeepsAReplicaOut() throws IOException {
        Path file = folder.resolve("rating.yaml");
        Files.writeString(
                file,
                Files.readString(Path.of("../examples/rating/rating.yaml"))
                        .replace("{name: c,", "{name: c, drain: true,"));
        Run run = Run.of("explain", "-f", file.toString());

        assertThat(run.out())
                .contains("measured: users 5, distinct users 3, load average 2.500")
                .contains("policy: rating 1090: 5 users, 3 distinct, load average 2.5")
                .contains("replica c, site main: draining, so in no answer");
    }

    @Test
    void nothingOfThatName() {
        Run run = Run.of("explain", "nobody", "-f", QUICKSTART);

        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("nothing of the name nobody is planned");
    }

    @Test
    void aResourceThatIsRejectedIsExplainedToo() throws IOException {
        Path file = Files.writeString(folder.resolve("a.yaml"), """
            apiVersion: apportion.dev/v1alpha1
            kind: TrafficService
            metadata: {name: shop, namespace: web}
            spec: {zoneRef: {name: nowhere}, hostname: shop.example.org, poolRef: {name: p}}
            """);

        assertThat(Run.of("explain", "shop", "-f", file.toString()).out()).contains("there is no DNSZone web/nowhere");
        assertThat(Run.of("explain", "-f", "nowhere.yaml").code()).isEqualTo(2);
    }

    @Test
    void whatAPodUsesOfWhatItRequestsIsShown() throws IOException {
        assertThat(Explanation.text(PoolScenarioTest.quo().plan(), pool -> true, stream -> true))
                .contains("measured: 53.00% of what it requests");
    }
}
