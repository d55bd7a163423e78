package dev.apportion.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.simulation.Server.Discipline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Five sites of ten slots, with what an earlier and independent program measured. */
class SiteQueuesTest {

    private static Setting sites(double utilisation, Dispatch dispatch) {
        List<Server> servers = new ArrayList<>();
        List<Population> populations = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            servers.add(new Server("s" + i, "site-" + i, 1, 10, Discipline.FIFO));
            populations.add(new Population("p" + i, utilisation * 10, Optional.of("site-" + i), 0));
        }
        return new Setting(
                servers,
                populations,
                new Law.Exponential(1),
                0,
                Double.POSITIVE_INFINITY,
                new Resolvers(0, List.of()),
                dispatch,
                10_000,
                500);
    }

    private static Row row(double utilisation, Dispatch dispatch) throws InterruptedException {
        return Sweep.run(
                        List.of(new Point(Map.of(), sites(utilisation, dispatch))),
                        LongStream.rangeClosed(1, 10).boxed().toList(),
                        2,
                        () -> false,
                        requests -> {})
                .getFirst();
    }

    @ParameterizedTest
    @CsvSource({
        "0.8, 0, false, 0.205",
        "0.8, 2, false, 0.107",
        "0.8, 4, false, 0.062",
        "0.8, 8, false, 0.032",
        "0.8, 1000, false, 0.0087",
        "0.8, 2, true, 0.067",
        "0.8, 4, true, 0.026",
        "0.8, 8, true, 0.0096",
        "0.9, 0, false, 0.669",
        "0.9, 2, false, 0.330",
        "0.9, 4, false, 0.225",
        "0.9, 8, false, 0.145",
        "0.9, 1000, false, 0.071",
        "0.9, 2, true, 0.263",
        "0.9, 4, true, 0.136",
        "0.9, 8, true, 0.079"
    })
    void waitsAreThoseOfTheYardstick(double utilisation, double budget, boolean reclaim, double expected)
            throws InterruptedException {
        Interval wait =
                row(utilisation, new Dispatch.GlobalQueue(budget, reclaim)).interval(Metric.WAIT);

        assertThat(wait.mean()).isBetween(0.92 * expected - wait.half(), 1.08 * expected + wait.half());
    }

    @Test
    void aCentralServerAndIsolatedSitesWaitAsErlangSays() throws InterruptedException {
        for (Dispatch dispatch : List.of(new Dispatch.Central(), new Dispatch.GlobalQueue(0, false))) {
            Row row = row(0.8, dispatch);

            assertThat(row.interval(Metric.WAIT)
                            .contains(row.interval(Metric.WAIT_MODEL).mean()))
                    .isTrue();
        }
    }

    @Test
    void nothingIsRemoteWithoutLinks() throws InterruptedException {
        assertThat(row(0.8, new Dispatch.GlobalQueue(0, true))
                        .interval(Metric.REMOTE)
                        .mean())
                .isZero();
        assertThat(row(0.8, new Dispatch.GlobalQueue(4, false))
                        .interval(Metric.REMOTE)
                        .mean())
                .isBetween(0.01, 4.0 / 40);
    }
}
