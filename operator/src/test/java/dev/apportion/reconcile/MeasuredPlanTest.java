package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.LoadAverage;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.WeightedRoundRobin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Plans that follow one another while measurements come and go. */
class MeasuredPlanTest {

    private static final Member.Load MISSING = new Member.Load.Missing("no connection", false);

    private Optional<PoolPlan> before = Optional.empty();

    private static Member busy(String name, double loadAverage) {
        return EstimatesTest.member(name, 100, name.charAt(0))
                .measured(
                        new Member.Load.Measured(),
                        new Sample(
                                OptionalDouble.empty(),
                                OptionalDouble.empty(),
                                OptionalDouble.empty(),
                                OptionalDouble.empty(),
                                OptionalDouble.empty(),
                                OptionalDouble.of(loadAverage)),
                        100);
    }

    private static Member silent(String name) {
        return EstimatesTest.member(name, 100, name.charAt(0)).measured(MISSING, Sample.NONE, 100);
    }

    private Map<String, Double> plan(Policy policy, Member... members) {
        AdmittedPool basis = EstimatesTest.pool();
        AdmittedPool pool =
                new AdmittedPool(basis.ref(), basis.sites(), policy, "Test", false, basis.behavior(), basis.load());
        PoolPlan plan = PoolPlanner.plan(
                pool, List.of(members), List.of(EstimatesTest.demand("", 1, false)), new Past(before, Map.of(), false));
        before = Optional.of(plan);
        return plan.streams().getFirst().given();
    }

    @Test
    void oneOfThreeIsSilentThenAllThenNone() {
        Policy policy = new LoadAverage();
        assertThat(plan(policy, busy("a", 1), busy("b", 1), busy("c", 2)).get("c"))
                .isCloseTo(0.2, within(0.005));
        assertThat(plan(policy, busy("a", 1), busy("b", 1), silent("c")).get("c"))
                .isLessThanOrEqualTo(0.2);
        assertThat(plan(policy, busy("a", 8), busy("b", 8.5), silent("c")).get("c"))
                .isLessThanOrEqualTo(0.2);
        assertThat(plan(policy, silent("a"), silent("b"), silent("c")).get("c")).isCloseTo(1.0 / 3, within(0.005));
        assertThat(plan(policy, busy("a", 1), busy("b", 1), busy("c", 2)).get("c"))
                .isCloseTo(0.2, within(0.005));
    }

    @Test
    void aRampEndsWhereItWouldHaveBegun() {
        Policy policy = new WeightedRoundRobin();
        plan(policy, busy("a", 1), busy("b", 1));
        List<Double> shares = new ArrayList<>();
        for (double part : new double[] {0.1, 0.5, 0.9, 1}) {
            shares.add(plan(policy, busy("a", 1), busy("b", 1), busy("c", 1).warm(part))
                    .get("c"));
        }

        assertThat(shares).isSorted();
        assertThat(shares.getFirst()).isCloseTo(0.1 / 2.1, within(0.005));
        assertThat(shares.getLast()).isCloseTo(1.0 / 3, within(0.005));
    }
}
