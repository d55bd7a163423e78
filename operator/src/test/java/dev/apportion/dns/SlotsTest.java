package dev.apportion.dns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import dev.apportion.records.Answer;
import dev.apportion.records.HostStream;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotsTest {

    @Test
    void digitsOfAnIdBecomeDigitsOfASlot() {
        assertThat(Slots.ofId(0x1234)).isEqualTo(0x4231);
        assertThat(Slots.idOf(0x4231)).isEqualTo(0x1234);
    }

    @Test
    void everyIdHasASlotOfItsOwn() {
        BitSet seen = new BitSet();
        for (int id = 0; id < Slots.COUNT; id++) {
            assertThat(Slots.idOf(Slots.ofId(id))).isEqualTo(id);
            seen.set(Slots.ofId(id));
        }
        assertThat(seen.cardinality()).isEqualTo(Slots.COUNT);
    }

    @Test
    void runsFollowTheOrderOfTheAnswers() {
        HostStream stream = Corpus.stream("shop", new int[] {179, 77}, "10.0.0.10", "10.0.0.9");

        assertThat(Slots.runs(stream, false))
                .extracting(run -> run.answer().address().toString(), Slots.Run::from, Slots.Run::to)
                .containsExactly(tuple("10.0.0.9", 0, 77 * 256), tuple("10.0.0.10", 77 * 256, Slots.COUNT));
        assertThat(Slots.runs(stream, true)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 255, 257, 65_535, Integer.MAX_VALUE})
    void otherSumsAreRefusedByTheirValues(int weight) {
        HostStream stream = Corpus.stream("shop", new int[] {weight}, "10.0.0.1");

        assertThatThrownBy(() -> Slots.runs(stream, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[" + weight + "]")
                .hasMessageContaining("shop");
    }

    @Test
    void weightsOfZeroOrLessAreRefused() {
        HostStream stream = new HostStream(
                "shop",
                "",
                List.of(),
                List.of(
                        new Answer(Corpus.address("10.0.0.1"), "a", -16),
                        new Answer(Corpus.address("10.0.0.2"), "b", 32)));

        assertThatThrownBy(() -> Slots.runs(stream, false)).hasMessageContaining("[-16, 32]");
    }
}
