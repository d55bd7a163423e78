package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class PlanChangeTest {

    private static final String TWO =
            "{name: a, address: 192.0.2.1, capacity: 100}, {name: b, address: 192.0.2.2, capacity: 100}";
    private static final String SERVICE = Setting.service("shop", "shop.example.org");

    private static PoolPlan plan(String endpoints, String policy, String... services) {
        String[] documents = new String[services.length + 2];
        documents[0] = Setting.ZONE;
        documents[1] = Setting.pool("shop", "{name: main, endpoints: [" + endpoints + "]}")
                .replace("spec: {", "spec: {policy: {type: " + policy + "}, ");
        System.arraycopy(services, 0, documents, 2, services.length);
        return Objects.requireNonNull(Setting.of(documents).plan().pools().get(new Ref("web", "shop")));
    }

    private static PlanChange change(PoolPlan before, PoolPlan after) {
        return PlanChange.between(before, after, Instant.EPOCH);
    }

    @Test
    void replicasThatComeMoveTheirShare() {
        PlanChange change = change(
                plan(TWO, "KSplittable", SERVICE),
                plan(TWO + ", {name: c, address: 192.0.2.3, capacity: 200}", "KSplittable", SERVICE));

        assertThat(change.reason()).isEqualTo("ReplicasChanged");
        assertThat(change.movedPercent()).isCloseTo(50, within(1e-9));
        assertThat(change.time()).isEqualTo(Instant.EPOCH);
    }

    @Test
    void aReplicaThatChangesItsAddressIsAnotherOne() {
        PlanChange change = change(
                plan(TWO, "KSplittable", SERVICE), plan(TWO.replace("192.0.2.2", "192.0.2.9"), "KSplittable", SERVICE));

        assertThat(change.reason()).isEqualTo("ReplicasChanged");
        assertThat(change.movedPercent()).isCloseTo(50, within(1e-9));
    }

    @Test
    void capacityMovesTheDifference() {
        PlanChange change = change(
                plan(TWO, "KSplittable", SERVICE),
                plan(TWO.replace("192.0.2.1, capacity: 100", "192.0.2.1, capacity: 300"), "KSplittable", SERVICE));

        assertThat(change.reason()).isEqualTo("CapacityChanged");
        assertThat(change.movedPercent()).isCloseTo(25, within(1e-9));
    }

    @Test
    void anotherSampleIsAnotherLoad() {
        String before = TWO.replace("192.0.2.1,", "192.0.2.1, measured: {loadAverage: 1},");
        String after = TWO.replace("192.0.2.1,", "192.0.2.1, measured: {loadAverage: 3},");
        PlanChange change = change(plan(before, "LoadAverage", SERVICE), plan(after, "LoadAverage", SERVICE));

        // the other replica counts as the mean, and so as this one
        assertThat(change.reason()).isEqualTo("LoadChanged");
        assertThat(change.movedPercent()).isZero();
    }

    @Test
    void streamsThatComeOrGoMoveNothing() {
        PoolPlan one = plan(TWO, "KSplittable", SERVICE);
        PoolPlan two = plan(TWO, "KSplittable", SERVICE, Setting.service("cart", "cart.example.org"));

        assertThat(change(one, two).reason()).isEqualTo("StreamsChanged");
        assertThat(change(one, two).movedPercent()).isZero();
        assertThat(change(two, one).movedPercent()).isZero();
    }

    @Test
    void thePolicyIsNamedWhenItAloneIsAnother() {
        String unequal = TWO.replace("192.0.2.1, capacity: 100", "192.0.2.1, capacity: 300");

        PlanChange change = change(plan(unequal, "WeightedRoundRobin", SERVICE), plan(unequal, "RoundRobin", SERVICE));

        assertThat(change.reason()).isEqualTo("PolicyChanged");
        assertThat(change.movedPercent()).isCloseTo(25, within(1e-9));
    }
}
