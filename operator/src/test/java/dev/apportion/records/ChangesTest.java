package dev.apportion.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.apportion.dns.Corpus;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChangesTest {

    private static final ZoneRecords BEFORE =
            zone(Corpus.host("a.example.org", two(179)), Corpus.host("b.example.org", two(8)));

    @Test
    void equalZonesHaveNone() {
        assertThat(Changes.between(
                                BEFORE,
                                zone(Corpus.host("b.example.org", two(8)), Corpus.host("a.example.org", two(179))))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void hostsComeAndGo() {
        Changes changes = Changes.between(
                BEFORE, zone(Corpus.host("c.example.org", two(1)), Corpus.host("a.example.org", two(179))));

        assertThat(changes.added()).containsExactly("c.example.org");
        assertThat(changes.removed()).containsExactly("b.example.org");
        assertThat(changes.changed()).isEmpty();
        assertThat(changes.isEmpty()).isFalse();
    }

    @Test
    void theMovedShareIsWhatGoesElsewhere() {
        Changes changes = Changes.between(
                BEFORE, zone(Corpus.host("a.example.org", two(179 - 64)), Corpus.host("b.example.org", two(8))));

        assertThat(changes.changed()).containsExactly("a.example.org");
        assertThat(changes.streams()).singleElement().satisfies(stream -> {
            assertThat(stream.host()).isEqualTo("a.example.org");
            assertThat(stream.label()).isEqualTo("two");
            assertThat(stream.movedPercent()).isCloseTo(25, within(1e-9));
        });
        assertThat(changes.mostMovedPercent()).isCloseTo(25, within(1e-9));
    }

    @Test
    void anotherResolutionOfTheSameSharesMovesNothing() {
        HostStream coarse = Corpus.stream("two", new int[] {4, 12}, "10.0.0.1", "10.0.0.2");
        HostStream fine = Corpus.stream("two", new int[] {64, 192}, "10.0.0.1", "10.0.0.2");

        assertThat(Changes.between(zone(Corpus.host("a.example.org", coarse)), zone(Corpus.host("a.example.org", fine)))
                        .mostMovedPercent())
                .isZero();
    }

    @Test
    void aStreamThatIsNewMovesWhole() {
        HostStream other = Corpus.stream("other", new int[] {16}, "10.0.0.1");

        assertThat(Changes.between(
                                zone(Corpus.host("a.example.org", two(8))), zone(Corpus.host("a.example.org", other)))
                        .mostMovedPercent())
                .isEqualTo(100);
    }

    @Test
    void settingsCount() {
        ZoneRecords other = new ZoneRecords(
                BEFORE.domain(),
                BEFORE.owner(),
                BEFORE.answers(),
                BEFORE.ttlSeconds() + 1,
                BEFORE.negativeTtlSeconds(),
                BEFORE.nameServers(),
                List.of(),
                BEFORE.hosts());

        assertThat(Changes.between(BEFORE, other).zoneChanged()).isTrue();
        assertThat(Changes.between(BEFORE, other).isEmpty()).isFalse();
    }

    private static ZoneRecords zone(Host... hosts) {
        return Corpus.zone(Answers.Single, hosts);
    }

    private static HostStream two(int first) {
        return Corpus.stream("two", new int[] {first, 256 - first}, "10.0.0.1", "10.0.0.2");
    }
}
