package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficServiceStatus;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class WrittenStatusesTest {

    private final WrittenStatuses written = new WrittenStatuses();

    private static TrafficService service(String version, String rate) {
        TrafficService service = new TrafficService();
        service.setMetadata(new ObjectMetaBuilder()
                .withName("shop")
                .withUid("1")
                .withResourceVersion(version)
                .build());
        service.setStatus(new TrafficServiceStatus(1L, List.of(), rate, List.of()));
        return service;
    }

    private String recalled(TrafficService cached) {
        written.recall(cached);
        return String.valueOf(Objects.requireNonNull(cached.getStatus()).rate());
    }

    @Test
    void aStatusThatWasWrittenStandsUntilTheCacheHasIt() {
        written.written(service("10", "2"));
        assertThat(recalled(service("9", "1"))).isEqualTo("2");
        assertThat(recalled(service("9", "1"))).as("asked again").isEqualTo("2");
        assertThat(recalled(service("10", "2"))).isEqualTo("2");
        assertThat(recalled(service("9", "1")))
                .as("what the cache has heard of needs no memory")
                .isEqualTo("1");
    }

    @Test
    void aLaterVersionOfAnotherWriterCounts() {
        written.written(service("10", "2"));
        assertThat(recalled(service("11", "3"))).isEqualTo("3");
    }

    @Test
    void theLatestOfTwoWritesCountsInWhateverOrderTheyAreNoted() {
        written.written(service("12", "3"));
        written.written(service("10", "2"));
        assertThat(recalled(service("11", "1"))).isEqualTo("3");
    }

    @Test
    void aVersionIsANumberAndNotAText() {
        written.written(service("10", "2"));
        assertThat(recalled(service("9", "1"))).isEqualTo("2");
    }

    @Test
    void whatCannotBeComparedAndWhatIsGoneIsForgotten() {
        written.written(service("10", "2"));
        assertThat(recalled(service("a", "1"))).isEqualTo("1");
        written.written(service("10", "2"));
        written.forget(service("10", "2"));
        assertThat(recalled(service("9", "1"))).isEqualTo("1");
    }
}
