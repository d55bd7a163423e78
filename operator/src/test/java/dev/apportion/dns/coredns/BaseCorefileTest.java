package dev.apportion.dns.coredns;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class BaseCorefileTest {

    @Test
    void takesInTheZones() {
        assertThat(new BaseCorefile("/etc/apportion", OptionalInt.of(8080), OptionalInt.of(8181)).text())
                .isEqualTo("""
                    . {
                      health :8080
                      ready :8181
                      reload 2s 0s
                    }
                    import /etc/apportion/*.conf
                    """);
    }

    @Test
    void needsNoPorts() {
        assertThat(new BaseCorefile("/zones", OptionalInt.empty(), OptionalInt.empty()).text())
                .isEqualTo("""
                    . {
                      reload 2s 0s
                    }
                    import /zones/*.conf
                    """);
    }
}
