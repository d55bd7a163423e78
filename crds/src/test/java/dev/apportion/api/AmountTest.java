package dev.apportion.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AmountTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "120, 120",
        "0.5, 0.5",
        ".5, 0.5",
        "1., 1",
        "1500m, 1.5",
        "100n, 1e-7",
        "2u, 2e-6",
        "1k, 1000",
        "1Ki, 1024",
        "3M, 3e6",
        "1Gi, 1073741824",
        "1T, 1e12",
        "1e3, 1000",
        "1E3, 1000",
        "12e-1, 1.2",
        "0E, 0",
        "0001, 1"
    })
    void isAQuantityOfKubernetes(String text, double value) {
        assertThat(new Amount(text).value()).isEqualTo(value);
        assertThat(new Amount(text).isPositive()).isEqualTo(value > 0);
    }

    @ParameterizedTest
    @CsvSource({"0.5, 0.5", "1e3, 1000", "1.50, 1.5", "1e-7, 0.0000001"})
    void aFractionWithoutQuotesIsRefusedWithWhatToWrite(String json, String text) {
        assertThatThrownBy(() -> new ObjectMapper().readValue(json, Amount.class))
                .hasMessageContaining("must stand in quotes")
                .hasMessageContaining('"' + text + '"');
        assertThat(new Amount(text).value()).isEqualTo(Double.parseDouble(json));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "-0.5", "\"-5\"", "\"-500m\""})
    void aNegativeNumberIsToldItsRange(String json) {
        assertThatThrownBy(() -> new ObjectMapper().readValue(json, Amount.class))
                .hasMessageContaining("must be a quantity from 0 to 1e12");
    }

    @Test
    void keepsTheText() {
        assertThat(new Amount("1500m").text()).isEqualTo("1500m");
        assertThat(Amount.of(120).text()).isEqualTo("120");
    }
}
