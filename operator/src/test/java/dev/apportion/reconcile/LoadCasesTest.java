package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.KSplittable;
import dev.apportion.allocation.LoadAverage;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.WeightedRoundRobin;
import dev.apportion.load.Gap;
import dev.apportion.load.Method;
import dev.apportion.load.Quantity;
import dev.apportion.load.Readout;
import dev.apportion.load.Series;
import dev.apportion.load.Track;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What measurements did to the users of other load balancers does not happen here: from what a source says of each process to the
 * shares that are answered.
 */
class LoadCasesTest {

    private static final Duration STALE = Duration.ofSeconds(60);
    private static final int STEP = 10;

    /** Of so many replicas integers are rounded to this. */
    private static final double SLOT = 1.0 / 4096;

    private static final List<Demand> ONE = List.of(EstimatesTest.demand("", 1, false));

    private static final Series BUSY = new Series(Map.of(Quantity.LOAD_AVERAGE, "load1"));
    private static final Series SERVED =
            new Series(Map.of(Quantity.REQUESTS, "requests", Quantity.IN_FLIGHT, "in_flight"));

    private static final AdmittedPool LOAD_AVERAGES = pool(new LoadAverage(), BUSY);

    private static AdmittedPool pool(Policy policy, Series series) {
        return ControlTest.pool(policy, AdmittedPool.Behavior.DEFAULT.tolerance(), Optional.of(series));
    }

    private static List<Member> members(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> EstimatesTest.member("r%02d".formatted(i), 100, i + 1))
                .toList();
    }

    private static double share(Map<String, Double> given, int replica) {
        return given.getOrDefault("r%02d".formatted(replica), 0.0);
    }

    /** The loop of one pool, look by look. */
    private static final class Loop {

        private final Series series;
        private final AdmittedPool pool;
        private final Map<String, Track> tracks = new HashMap<>();
        private Control control = Control.NEW;
        private List<Member> members;
        private int second;

        Loop(Series series, AdmittedPool pool, List<Member> members) {
            this.series = series;
            this.pool = pool;
            this.members = members;
        }

        static Loop busy(int count) {
            return new Loop(BUSY, LOAD_AVERAGES, members(count));
        }

        static Loop served(List<Member> members) {
            return new Loop(SERVED, pool(new KSplittable(), SERVED), List.copyOf(members));
        }

        void says(Member.Server process, Readout readout) {
            tracks.put(
                    process.uid(), tracks.getOrDefault(process.uid(), Track.NEW).next(readout, series));
        }

        void says(int replica, Readout readout) {
            says(members.get(replica).processes().getFirst(), readout);
        }

        Readout values(Map<Quantity, Double> values) {
            return new Readout.Values(values, TimeUnit.SECONDS.toNanos(second), second * 1000L);
        }

        void loadAverage(int replica, double value) {
            says(replica, values(Map.of(Quantity.LOAD_AVERAGE, value)));
        }

        void serves(int replica, double requests, double inFlight) {
            says(replica, values(Map.of(Quantity.REQUESTS, requests, Quantity.IN_FLIGHT, inFlight)));
        }

        static Readout nothing() {
            return new Readout.Failed(Gap.Unreachable, "no connection");
        }

        /** What is answered after one more look. */
        Map<String, Double> look() {
            control = control.next(new Control.Seen(
                    pool,
                    members,
                    ONE,
                    Duration.ofSeconds(15),
                    Map.of(),
                    false,
                    process ->
                            tracks.getOrDefault(process.uid(), Track.NEW).at(TimeUnit.SECONDS.toNanos(second), STALE),
                    Map.of(),
                    Optional.empty(),
                    Duration.ofSeconds(30),
                    TimeUnit.SECONDS.toNanos(second)));
            second += STEP;
            return plan().streams().getFirst().given();
        }

        PoolPlan plan() {
            return control.plan().orElseThrow();
        }

        String available() {
            return Findings.of(plan()).getFirst().reason();
        }
    }

    @Test
    void aNegativeSampleIsMissingAndNotThatOfTheIdlest() {
        Loop loop = Loop.busy(3);
        Map<String, Double> given = Map.of();
        for (int round = 0; round < 20; round++) {
            loop.loadAverage(0, 1);
            loop.loadAverage(1, 1);
            // A process that was started anew, and whose counters are compared with those before.
            loop.loadAverage(2, round < 5 ? 2 : -0.513);
            given = loop.look();
            assertThat(share(given, 2)).as("round %d", round).isBetween(0.15, 0.21);
        }
        assertThat(loop.available()).isEqualTo("SomeSilent");
        assertThat(loop.plan().replicas().getLast().member().load())
                .isEqualTo(new Member.Load.Missing(
                        "the last measurement is older than 60 s: loadAverage is negative: -0.513", true));
    }

    /** The same of the metrics API, where it comes from. */
    @Test
    void aNegativeUseOfAResourceIsMissing() {
        Track track = Track.NEW.next(
                new Readout.Values(Map.of(Quantity.UTILISATION, -0.513), 0, 0),
                new Method.PodMetrics("web", "cpu").series());

        assertThat(track.gaps()).containsExactly(Gap.Negative);
        assertThat(track.at(0, STALE)).isEqualTo(new Track.Load.Missing("utilisation is negative: -0.513"));
    }

    @Test
    void whatWasMeasuredOfAnEarlierPodOfTheSameNameDoesNotCountForTheNewOne() {
        Loop loop = Loop.busy(3);
        for (int round = 0; round < 5; round++) {
            loop.loadAverage(0, 1);
            loop.loadAverage(1, 1);
            loop.loadAverage(2, 1);
            loop.look();
        }
        // Another pod of the name has begun; what the source still has is of the one before, whose load was low at
        // last.
        List<Member> replaced = new ArrayList<>(loop.members);
        Member old = replaced.get(2);
        Member.Server process = old.processes().getFirst();
        replaced.set(
                2, old.of(List.of(new Member.Server(process.name(), "uid-new", process.address(), process.ports()))));
        loop.members = List.copyOf(replaced);
        double before = share(loop.plan().streams().getFirst().given(), 2);
        for (int round = 0; round < 4; round++) {
            loop.loadAverage(0, 1);
            loop.loadAverage(1, 1);
            loop.says(2, new Readout.Failed(Gap.Outdated, "the sample is older than the pod"));
            assertThat(share(loop.look(), 2)).isLessThanOrEqualTo(before + 1e-9);
            assertThat(loop.plan().replicas().getLast().member().load()).isInstanceOf(Member.Load.Missing.class);
        }
        loop.loadAverage(0, 1);
        loop.loadAverage(1, 1);
        loop.loadAverage(2, 4);
        Map<String, Double> given = loop.look();
        assertThat(share(given, 2)).as("a sample of its own").isCloseTo(1.0 / 9, within(0.01));
    }

    @Test
    void oneOfSeventyIsSilentThenAllAre() {
        Loop loop = Loop.busy(70);
        Map<String, Double> given = Map.of();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 70; i++) {
                loop.loadAverage(i, 1);
            }
            given = loop.look();
        }
        double before = share(given, 69);
        assertThat(before).isCloseTo(1.0 / 70, within(0.002));

        // It never gains, however busy the others become, and these are told apart all the time.
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 69; i++) {
                loop.loadAverage(i, i == 0 ? 1 + round : 5);
            }
            loop.says(69, Loop.nothing());
            given = loop.look();
            assertThat(share(given, 69)).as("round %d", round).isLessThanOrEqualTo(before + SLOT);
        }
        assertThat(loop.available()).isEqualTo("SomeSilent");
        assertThat(share(given, 0)).isLessThan(share(given, 1) / 3);

        // Nobody says anything more: what is answered is held, and then capacity decides.
        Map<String, Double> last = given;
        for (int round = 0; round < 6; round++) {
            for (int i = 0; i < 70; i++) {
                loop.says(i, Loop.nothing());
            }
            assertThat(loop.look()).as("round %d", round).isEqualTo(last);
            assertThat(loop.available()).isIn("Holding", "SomeSilent");
        }
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 70; i++) {
                loop.says(i, Loop.nothing());
            }
            given = loop.look();
        }
        assertThat(loop.available()).isEqualTo("NoSamples");
        assertThat(given).hasSize(70);
        // Capacity decides, as near as the tolerance has it.
        assertThat(given.values()).allSatisfy(share -> assertThat(share).isLessThanOrEqualTo(1.1 / 70));
        assertThat(loop.plan().replicas())
                .allSatisfy(replica -> assertThat(replica.member().capacity()).isEqualTo(100));
    }

    @Test
    void aPartitionThatMakesEveryPodUnreadyIsNoReasonToMeasureOrToForget() {
        Loop loop = Loop.busy(12);
        List<Member> all = loop.members;
        for (int i = 0; i < 12; i++) {
            loop.loadAverage(i, i < 6 ? 1 : 4);
        }
        Map<String, Double> before = loop.look();
        loop.members = all.stream().map(LoadCasesTest::unready).toList();
        loop.look();
        assertThat(Findings.allocated(loop.plan()).reason()).isEqualTo("NoReadyReplicas");
        assertThat(loop.plan().streams().getFirst().answers())
                .as("nothing new to publish: what is published stays")
                .isEmpty();

        loop.members = all;
        for (int i = 0; i < 12; i++) {
            loop.loadAverage(i, i < 6 ? 1 : 4);
        }
        assertThat(loop.look()).isEqualTo(before);
        // With seven of twelve down, the five have all.
        loop.members = IntStream.range(0, 12)
                .mapToObj(i -> i < 7 ? unready(all.get(i)) : all.get(i))
                .toList();
        assertThat(loop.look()).hasSize(5).doesNotContainKeys("r00", "r06");
    }

    private static Member unready(Member member) {
        return new Member(
                member.name(), member.site(), 100, 1, member.measured(), List.of(), Member.State.NotReady, List.of());
    }

    /** Two Services select one pod: what it serves is served once. */
    @Test
    void aPodBehindTwoServicesIsCountedOnce() {
        Member.Server shared = new Member.Server("p", "uid-p", EstimatesTest.address("10.0.0.1"), Map.of());
        Loop loop = Loop.served(List.of(
                EstimatesTest.member("p", 100, 1).of(List.of(shared)),
                EstimatesTest.member("some-p", 100, 1).of(List.of(shared)),
                EstimatesTest.member("q", 100, 2)));
        for (int round = 0; round < 30; round++) {
            loop.says(shared, loop.values(Map.of(Quantity.REQUESTS, 60.0, Quantity.IN_FLIGHT, 6.0)));
            loop.serves(2, 30, 3);
            loop.look();
        }

        assertThat(loop.plan().streams().getFirst().demand().rate())
                .as("what arrives in all")
                .isCloseTo(90, within(4.0));
        assertThat(loop.plan().replicas())
                .allSatisfy(replica -> assertThat(replica.member().capacity()).isCloseTo(100, within(5.0)));
        assertThat(loop.plan()
                        .replicas()
                        .getFirst()
                        .member()
                        .measured()
                        .requests()
                        .orElseThrow())
                .isCloseTo(30, within(1.0));
    }

    /** The share of one is too large; older measurements say that it is too small still. */
    @ParameterizedTest
    @ValueSource(ints = {10, 30, 60, 100, 150, 300})
    void aShareThatShouldFallNeverRises(int olderSeconds) {
        Loop loop = Loop.served(members(2));
        // r00 seemed faster than it is, and rose; for some time more measurements went on to say so.
        while (loop.second < 600 + olderSeconds) {
            loop.serves(0, 80, 6);
            loop.serves(1, 80, 12);
            loop.look();
        }
        double most = share(loop.plan().streams().getFirst().given(), 0);
        assertThat(most).isGreaterThan(0.55);
        double last = most;
        while (loop.second < 4200 + olderSeconds) {
            loop.serves(0, 80, 15);
            loop.serves(1, 80, 10);
            last = share(loop.look(), 0);
            assertThat(last).as("after %d s", loop.second).isBetween(0.37, most + 1e-9);
        }
        // As near as the tolerance has it.
        assertThat(last).isBetween(0.37, 0.47);
    }

    @Test
    void whereOneDeclaresACapacityTheOthersHaveThatOfTheirSiteAndItIsSaid() {
        Plan plan = Setting.of(
                        Setting.ZONE,
                        Setting.pool(
                                "shop",
                                "{name: main, endpoints: [{name: a, address: 192.0.2.1, capacity: 3}, {name: b,"
                                        + " address: 192.0.2.2}]}"),
                        Setting.service("shop", "shop.example.org"))
                .plan();
        PoolPlan pool = plan.pools().values().iterator().next();

        assertThat(pool.streams().getFirst().given().get("a")).isCloseTo(0.75, within(1e-9));
        assertThat(pool.replicas())
                .extracting(replica -> replica.member().because().getFirst())
                .containsExactly("capacity declared", "capacity of the site");
    }

    /** Whatever the way in which nothing counts, the policy goes on without it. */
    @ParameterizedTest
    @EnumSource
    void whateverIsMissingNothingStops(Gap gap) {
        Loop loop = new Loop(BUSY, pool(new WeightedRoundRobin(), BUSY), members(3));
        for (int round = 0; round < 10; round++) {
            loop.loadAverage(0, 1);
            loop.loadAverage(1, 1);
            loop.says(2, new Readout.Failed(gap, "of the kind " + gap));
            Map<String, Double> given = loop.look();
            assertThat(given.values().stream().mapToDouble(Double::doubleValue).sum())
                    .isCloseTo(1, within(1e-9));
        }
        assertThat(loop.available()).isEqualTo("SomeSilent");
    }

    /** The clocks of all processes, or of the Prometheus server that has their samples, are set. */
    @ParameterizedTest
    @ValueSource(ints = {-5, -3600, 3600})
    void whereClocksAreSetTheLoopGoesOn(int jump) {
        ClosedLoop loop = new ClosedLoop(30, 3, 0.6 * 3 * ClosedLoop.CAPACITY, 5);
        loop.replicas().getFirst().speed = 0.5;
        loop.run(1800);
        double before = loop.shares().getOrDefault("r00", 0.0);
        assertThat(before).isLessThan(0.26);

        loop.clockOff += jump;
        for (int look = 0; look < 60; look++) {
            loop.run(STEP);
            assertThat(loop.shares().getOrDefault("r00", 0.0)).isCloseTo(before, within(0.05));
        }
        // And it learns on: they are alike again.
        loop.replicas().getFirst().speed = 1;
        loop.run(3600);
        assertThat(loop.shares().getOrDefault("r00", 0.0)).isBetween(0.27, 0.4);
    }
}
