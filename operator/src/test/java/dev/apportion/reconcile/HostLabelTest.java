package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostLabelTest {

    @Test
    void isReadableStableAndEndsInAHash() {
        assertThat(HostLabel.of("shop.example.org", "")).matches("shop-[0-9a-f]{10}");
        assertThat(HostLabel.of("shop.example.org", "eu.west")).matches("shop-eu-west-[0-9a-f]{10}");
        assertThat(HostLabel.of("shop.example.org", "eu")).isEqualTo(HostLabel.of("shop.example.org", "eu"));
    }

    @Test
    void isShortEvenForTheLongestNames() {
        String label = "a".repeat(63);

        assertThat(HostLabel.of(label + ".example.org", "s".repeat(253))).hasSize(HostLabel.MAX_LENGTH);
        assertThat(HostLabel.MAX_LENGTH).isLessThanOrEqualTo(63);
    }

    @Test
    void tellsNamesApartThatBeginAlike() {
        String start = "a".repeat(60);

        assertThat(HostLabel.of(start + "x.example.org", "")).isNotEqualTo(HostLabel.of(start + "y.example.org", ""));
        assertThat(HostLabel.of("shop.example.org", "")).isNotEqualTo(HostLabel.of("shop.example.net", ""));
        assertThat(HostLabel.of("a.example.org", "b")).isNotEqualTo(HostLabel.of("a-b.example.org", ""));
        assertThat(HostLabel.of("a.example.org", "b.c")).isNotEqualTo(HostLabel.of("a.example.org", "b-c"));
    }
}
