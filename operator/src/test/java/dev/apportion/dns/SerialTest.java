package dev.apportion.dns;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SerialTest {

    @Test
    void grows() {
        assertThat(Serial.FIRST.next()).isEqualTo(new Serial(2));
        assertThat(new Serial(2).isAfter(Serial.FIRST)).isTrue();
        assertThat(Serial.FIRST.isAfter(new Serial(2))).isFalse();
        assertThat(Serial.FIRST.isAfter(Serial.FIRST)).isFalse();
    }

    @Test
    void wrapsAroundAndLeavesOutZero() {
        Serial last = new Serial(0xffff_ffffL);

        assertThat(last.next()).isEqualTo(Serial.FIRST);
        assertThat(last.next().isAfter(last)).isTrue();
    }

    @Test
    void followsAFloor() {
        assertThat(Serial.after(0)).isEqualTo(Serial.FIRST);
        assertThat(Serial.after(-5)).isEqualTo(Serial.FIRST);
        assertThat(Serial.after(41)).isEqualTo(new Serial(42));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "007", "1.5", "4294967296", "99999999999", "x", "1 "})
    void otherTextsAreNotSerials(String digits) {
        assertThat(Serial.parse(digits)).isEmpty();
    }

    @Test
    void isReadBack() {
        assertThat(Serial.parse("4294967295")).contains(new Serial(0xffff_ffffL));
    }
}
