package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RememberedTest {

    private final List<List<String>> looked = new ArrayList<>();
    private final Remembered<List<String>, Integer> sizes = new Remembered<>(list -> {
        looked.add(list);
        return list.size();
    });

    @Test
    void whatStaysIsLookedAtOnceAndWhatIsReplacedByItsEqualAgain() {
        List<String> one = new ArrayList<>(List.of("a"));
        List<String> two = new ArrayList<>(List.of("a", "b"));
        assertThat(sizes.of(List.of(one, two)).values()).containsExactlyInAnyOrder(1, 2);
        assertThat(sizes.of(List.of(one, two)).values()).containsExactlyInAnyOrder(1, 2);
        assertThat(looked).hasSize(2);

        List<String> copy = new ArrayList<>(one);
        assertThat(sizes.of(List.of(copy, two)).get(copy)).isEqualTo(1);
        assertThat(looked).hasSize(3);
    }

    @Test
    void whatIsGoneIsForgotten() {
        List<String> one = new ArrayList<>(List.of("a"));
        var _ = sizes.of(List.of(one));
        assertThat(sizes.of(List.of())).isEmpty();
        var _ = sizes.of(List.of(one));
        assertThat(looked).hasSize(2);
    }
}
