package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.api.DNSZoneSpec.LabelOperator;
import dev.apportion.api.DNSZoneSpec.LabelRequirement;
import dev.apportion.api.DNSZoneSpec.NamespaceSelector;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SelectorsTest {

    private static final Map<String, String> LABELS = Map.of("tier", "gold", "empty", "");

    @Test
    void noSelectorMatchesNothingAndAnEmptyOneEverything() {
        assertThat(Selectors.matches(null, LABELS)).isFalse();
        assertThat(Selectors.matches(new NamespaceSelector(Map.of(), List.of()), Map.of()))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({"tier, gold, true", "tier, silver, false", "team, gold, false", "empty, '', true"})
    void labelsAreEqual(String key, String value, boolean matches) {
        assertThat(Selectors.matches(new NamespaceSelector(Map.of(key, value), List.of()), LABELS))
                .isEqualTo(matches);
    }

    @ParameterizedTest
    @CsvSource({
        "tier , In          , gold, true",
        "tier , In          , lead, false",
        "other, In          , gold, false",
        "tier , NotIn       , gold, false",
        "tier , NotIn       , lead, true",
        "other, NotIn       , gold, true",
        "tier , Exists      ,     , true",
        "other, Exists      ,     , false",
        "tier , DoesNotExist,     , false",
        "other, DoesNotExist,     , true"
    })
    void requirementsAreThoseOfKubernetes(
            String key, LabelOperator operator, @org.jspecify.annotations.Nullable String value, boolean matches) {
        List<String> values = value == null ? List.of() : List.of("x", value);
        NamespaceSelector selector =
                new NamespaceSelector(Map.of(), List.of(new LabelRequirement(key, operator, values)));

        assertThat(Selectors.matches(selector, LABELS)).isEqualTo(matches);
    }

    @Test
    void everyRequirementMustHold() {
        NamespaceSelector selector = new NamespaceSelector(
                Map.of("tier", "gold"), List.of(new LabelRequirement("tier", LabelOperator.DoesNotExist, List.of())));

        assertThat(Selectors.matches(selector, LABELS)).isFalse();
    }
}
