package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.allocation.Sample;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RemovalsTest {

    private static final Duration CYCLE = Duration.ofSeconds(30);
    private static final Optional<String> DOUBT = Optional.of("the API server does not answer");

    private static List<Member> members(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> EstimatesTest.member("r" + i, 100, i + 1))
                .toList();
    }

    private static long seconds(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }

    private static Removals of(int count) {
        return Removals.NONE.next(members(count), 50, Optional.empty(), CYCLE, 0);
    }

    @ParameterizedTest
    @CsvSource({
        // before, after, most, doubted: held
        "10, 4, 50, true, true",
        "10, 5, 50, true, false",
        "10, 4, 50, false, false",
        "10, 9, 0, true, true",
        "10, 10, 0, true, false",
        "10, 1, 100, true, false",
        "10, 1, 90, true, false",
        "10, 1, 89, true, true",
        // Nobody is left: the last answers stay anyway.
        "10, 0, 50, true, false",
        "0, 10, 50, true, false",
        "2, 1, 50, true, false",
        "3, 1, 50, true, true"
    })
    void moreThanTheBudgetIsHeldWhereThereAreDoubts(int before, int after, int most, boolean doubted, boolean held) {
        Removals next = of(before).next(members(after), most, doubted ? DOUBT : Optional.empty(), CYCLE, seconds(10));

        assertThat(next.hold().isPresent()).isEqualTo(held);
        assertThat(next.members(members(after))).hasSize(held ? before : after);
    }

    @Test
    void whoIsSaidToBeDeadIsNotHeld() {
        List<Member> down = IntStream.range(0, 12)
                .mapToObj(i -> i < 5 ? members(12).get(i) : dead(members(12).get(i)))
                .toList();
        Removals next = of(12).next(down, 50, DOUBT, CYCLE, seconds(10));

        assertThat(next.hold()).isEmpty();
        assertThat(next.members(down).stream().filter(Member::isReady)).hasSize(5);
    }

    private static Member dead(Member member) {
        return new Member(
                member.name(), member.site(), 100, 1, Sample.NONE, List.of(), Member.State.NotReady, List.of());
    }

    @Test
    void itLastsForACycleAndIsSaid() {
        Removals first = of(10).next(members(2), 50, DOUBT, CYCLE, seconds(10));
        assertThat(first.hold().orElseThrow().words())
                .isEqualTo("8 of 10 replicas vanished at once, and the API server does not answer; they are kept for a"
                        + " cycle");
        assertThat(first.left(CYCLE, seconds(15))).contains(Duration.ofSeconds(25));

        // Doubts that are gone early do not end it: one answer makes no certainty.
        Removals second = first.next(members(2), 50, Optional.empty(), CYCLE, seconds(39));
        assertThat(second.hold()).isPresent();
        Removals third = second.next(members(2), 50, DOUBT, CYCLE, seconds(40));
        assertThat(third.hold()).isEmpty();
        assertThat(third.members(members(2))).hasSize(2);
        assertThat(third.next(members(2), 50, DOUBT, CYCLE, seconds(41)).hold()).isEmpty();
    }

    @Test
    void whoComesBackEndsIt() {
        Removals held = of(10).next(members(2), 50, DOUBT, CYCLE, seconds(10));
        Removals back = held.next(members(9), 50, DOUBT, CYCLE, seconds(12));

        assertThat(back.hold()).isEmpty();
        assertThat(back.members(members(9))).hasSize(9);
    }
}
