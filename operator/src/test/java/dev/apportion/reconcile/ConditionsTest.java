package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Condition;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ConditionsTest {

    private static final String THEN = "2024-01-01T00:00:00Z";
    private static final String NOW = "2024-06-01T12:00:00Z";

    private static final Finding ACCEPTED = Finding.yes(Finding.ACCEPTED, "Accepted", "good");
    private static final Finding RESOLVED = Finding.yes(Finding.RESOLVED_REFS, "ResolvedRefs", "found");
    private static final Finding PROGRAMMED = Finding.yes(Finding.PROGRAMMED, "Programmed", "written");
    private static final Finding PENDING = Finding.unknown(Finding.PROGRAMMED, "Pending", "soon");
    private static final Finding NO_REPLICAS = Finding.no(Finding.ALLOCATED, "NoReadyReplicas", "none");

    private static List<Condition> at(String time, List<Finding> findings, List<Condition> before) {
        return new Conditions(Clock.fixed(Instant.parse(time).plusMillis(7), ZoneOffset.UTC))
                .of(findings, Optional.empty(), before, 3);
    }

    @Test
    void theSummaryStandsLastAndEveryConditionNamesTheGeneration() {
        List<Condition> conditions = at(NOW, List.of(ACCEPTED, RESOLVED, PROGRAMMED), List.of());

        assertThat(conditions)
                .extracting(Condition::getType)
                .containsExactly("Accepted", "ResolvedRefs", "Programmed", "Ready");
        assertThat(conditions).extracting(Condition::getObservedGeneration).containsOnly(3L);
        assertThat(conditions).extracting(Condition::getLastTransitionTime).containsOnly(NOW);
    }

    @Test
    void theTimeOfATransitionStaysUntilTheStatusFlips() {
        List<Condition> first = at(THEN, List.of(ACCEPTED, PROGRAMMED), List.of());
        Finding otherWords = Finding.yes(Finding.ACCEPTED, "Accepted", "good still");

        List<Condition> second = at(NOW, List.of(otherWords, PENDING), first);

        assertThat(second)
                .extracting(Condition::getType, Condition::getStatus, Condition::getLastTransitionTime)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("Accepted", "True", THEN),
                        org.assertj.core.groups.Tuple.tuple("Programmed", "Unknown", NOW),
                        org.assertj.core.groups.Tuple.tuple("Ready", "Unknown", NOW));
        assertThat(second.getFirst().getMessage()).isEqualTo("good still");
    }

    @Test
    void equalFindingsGiveEqualConditions() {
        List<Condition> first = at(THEN, List.of(ACCEPTED, PENDING), List.of());

        assertThat(at(NOW, List.of(ACCEPTED, PENDING), first)).isEqualTo(first);
    }

    @Test
    void readyNeedsWhatIsNeededAndNoServerThatSaysOtherwise() {
        Finding lags = Finding.no(Finding.VERIFIED, "ServerLags", "old");
        Finding asking = Finding.unknown(Finding.VERIFIED, "Pending", "asking");
        Finding weights = Finding.no(Finding.WEIGHTS_HONORED, "WeightsIgnored", "shuffled");

        assertThat(Conditions.ready(List.of(ACCEPTED, RESOLVED, PROGRAMMED, asking, weights)))
                .isEqualTo(Finding.yes(Finding.READY, "Ready", "everything needed holds"));
        assertThat(Conditions.ready(List.of(ACCEPTED, RESOLVED, PROGRAMMED, lags)))
                .isEqualTo(Finding.no(Finding.READY, "ServerLags", "old"));
        assertThat(Conditions.ready(List.of(ACCEPTED, RESOLVED, PENDING)))
                .isEqualTo(Finding.unknown(Finding.READY, "Pending", "soon"));
    }

    @Test
    void whatIsFalseCountsBeforeWhatIsUnknown() {
        assertThat(Conditions.ready(List.of(ACCEPTED, PENDING, NO_REPLICAS)))
                .isEqualTo(Finding.no(Finding.READY, "NoReadyReplicas", "none"));
    }

    @Test
    void aFindingOfAnotherResourceCountsInTheSummaryAlone() {
        List<Condition> conditions = new Conditions(Clock.fixed(Instant.parse(NOW), ZoneOffset.UTC))
                .of(List.of(ACCEPTED), Optional.of(NO_REPLICAS), List.of(), 1);

        assertThat(conditions).extracting(Condition::getType).containsExactly("Accepted", "Ready");
        assertThat(conditions.getLast().getReason()).isEqualTo("NoReadyReplicas");
    }

    @Test
    void aMessageIsNoLongerThanTheSchemaOfConditionsTakes() {
        Finding talkative = Finding.no(Finding.ACCEPTED, "InvalidSpec", "x".repeat(40_000));

        assertThat(at(NOW, List.of(talkative), List.of()))
                .allSatisfy(condition ->
                        assertThat(condition.getMessage()).hasSize(32_768).endsWith("…"));
    }
}
