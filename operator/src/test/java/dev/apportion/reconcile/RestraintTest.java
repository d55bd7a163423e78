package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class RestraintTest {

    private static final Member.Load MEASURED = new Member.Load.Measured();
    private static final Member.Load SILENT = new Member.Load.Missing("no connection", false);

    private static Member replica(String name, Member.Load load) {
        Member member = EstimatesTest.member(name, 100, name.charAt(0));
        return member.measured(load, Sample.NONE, 100);
    }

    private static List<Piece> equal(int count) {
        List<Piece> pieces = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pieces.add(new Piece(i, 1.0 / count));
        }
        return pieces;
    }

    private static Map<String, Double> shares(List<Piece> pieces, List<Member> ready) {
        Map<String, Double> shares = new TreeMap<>();
        pieces.forEach(piece -> shares.put(ready.get(piece.replica()).name(), piece.share()));
        return shares;
    }

    @Test
    void aSilentReplicaKeepsWhatItHasAndTheOthersHaveTheRest() {
        List<Member> ready = List.of(replica("a", MEASURED), replica("b", MEASURED), replica("c", SILENT));

        Map<String, Double> given = shares(Restraint.of(equal(3), ready, Map.of("a", 0.5, "b", 0.3, "c", 0.2)), ready);

        assertThat(given.get("c")).isEqualTo(0.2);
        assertThat(given.get("a")).isCloseTo(0.4, within(1e-9));
        assertThat(given.get("b")).isCloseTo(0.4, within(1e-9));
    }

    /** What others have become says nothing of one of which an earlier measurement is held. */
    @Test
    void aHeldReplicaGainsNothingEitherAsLongAsMostAreMeasured() {
        Member held = replica("c", new Member.Load.Held("no connection", false));
        Map<String, Double> now = Map.of("a", 0.45, "b", 0.45, "c", 0.1);
        List<Member> one = List.of(replica("a", MEASURED), replica("b", MEASURED), held);
        List<Member> partly = List.of(
                replica("a", MEASURED),
                replica("b", MEASURED),
                replica("c", new Member.Load.Held("no sample of sessions", true)));
        List<Member> two =
                List.of(replica("a", MEASURED), replica("b", new Member.Load.Held("no connection", false)), held);

        assertThat(shares(Restraint.of(equal(3), one, now), one).get("c")).isEqualTo(0.1);
        assertThat(Restraint.of(equal(3), partly, now)).isEqualTo(equal(3));
        assertThat(Restraint.of(equal(3), two, now)).isEqualTo(equal(3));
    }

    @Test
    void aSilentReplicaMayLose() {
        List<Member> ready = List.of(replica("a", MEASURED), replica("b", SILENT));

        assertThat(Restraint.of(equal(2), ready, Map.of("a", 0.1, "b", 0.9))).isEqualTo(equal(2));
    }

    @Test
    void aSilentNewcomerWaitsForItsFirstMeasurementButNotForEver() {
        List<Member> waits = List.of(replica("a", MEASURED), replica("b", SILENT));
        List<Member> counts =
                List.of(replica("a", MEASURED), replica("b", new Member.Load.Missing("no connection", true)));

        assertThat(shares(Restraint.of(equal(2), waits, Map.of("a", 1.0)), waits))
                .isEqualTo(Map.of("a", 1.0));
        assertThat(Restraint.of(equal(2), counts, Map.of("a", 1.0))).isEqualTo(equal(2));
    }

    @Test
    void whereAllAreSilentOrNothingIsInForceCapacityDecides() {
        List<Member> silent = List.of(replica("a", SILENT), replica("b", SILENT));
        List<Member> some = List.of(replica("a", MEASURED), replica("b", SILENT));

        assertThat(Restraint.of(equal(2), silent, Map.of("a", 1.0))).isEqualTo(equal(2));
        assertThat(Restraint.of(equal(2), some, Map.of())).isEqualTo(equal(2));
    }

    @Test
    void aStreamOfSilentReplicasOnlyGoesOn() {
        List<Member> ready = List.of(replica("a", MEASURED), replica("b", SILENT));

        assertThat(Restraint.of(List.of(new Piece(1, 1)), ready, Map.of("a", 1.0)))
                .isEqualTo(List.of(new Piece(1, 1)));
    }

    @Test
    void aNewReplicaHasThePartOfItsShareThatItIsWarm() {
        List<Member> ready = List.of(
                replica("a", new Member.Load.Declared()),
                replica("b", new Member.Load.Declared()).warm(0.25));

        Map<String, Double> given = shares(Restraint.of(equal(2), ready, Map.of()), ready);

        assertThat(given.get("b")).isCloseTo(0.2, within(1e-9));
        assertThat(given.get("a")).isCloseTo(0.8, within(1e-9));
    }

    @Test
    void whereAllAreNewAllAreEqual() {
        List<Member> ready = List.of(
                replica("a", new Member.Load.Declared()).warm(0.1),
                replica("b", new Member.Load.Declared()).warm(0.1));

        assertThat(Restraint.of(equal(2), ready, Map.of())).isEqualTo(equal(2));
    }

    @Property
    void sharesSumToOneAndNoSilentOneGains(
            @ForAll @Size(min = 1, max = 6) List<@IntRange(min = 1, max = 100) Integer> intended,
            @ForAll @Size(6) List<@IntRange(min = 0, max = 100) Integer> now,
            @ForAll @Size(6) List<@IntRange(min = 0, max = 2) Integer> kinds) {
        double sum = intended.stream().mapToInt(Integer::intValue).sum();
        double inForceSum = Math.max(1, now.stream().mapToInt(Integer::intValue).sum());
        List<Member> ready = new ArrayList<>();
        List<Piece> pieces = new ArrayList<>();
        Map<String, Double> inForce = new TreeMap<>();
        boolean measured = false;
        for (int i = 0; i < intended.size(); i++) {
            String name = String.valueOf((char) ('a' + i));
            Member member = replica(name, kinds.get(i) == 0 ? SILENT : MEASURED);
            measured |= kinds.get(i) != 0;
            ready.add(kinds.get(i) == 2 ? member.warm(0.3) : member);
            pieces.add(new Piece(i, intended.get(i) / sum));
            inForce.put(name, now.get(i) / inForceSum);
        }

        Map<String, Double> given = shares(Restraint.of(pieces, ready, inForce), ready);

        assertThat(given.values().stream().mapToDouble(Double::doubleValue).sum())
                .isCloseTo(1, within(1e-6));
        if (measured) {
            for (int i = 0; i < ready.size(); i++) {
                String name = ready.get(i).name();
                if (kinds.get(i) == 0) {
                    assertThat(given.getOrDefault(name, 0.0))
                            .isLessThanOrEqualTo(inForce.getOrDefault(name, 0.0) + 1e-9);
                }
            }
        }
    }
}
