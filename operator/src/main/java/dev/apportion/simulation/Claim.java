package dev.apportion.simulation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Something that a source says of its system, as it can be told from runs. */
public sealed interface Claim {

    /** The claim in words. */
    String says();

    /** The points that it is about. */
    Map<String, String> where();

    /** Judges it by what was measured. */
    Verdict judge(List<Row> rows);

    /**
     * Some points have less of something than others that differ from them in nothing else.
     *
     * @param less the labels of the points with less
     * @param than the labels, of the same things, of those with more
     * @param times less than so many times what the others have; 1 for simply less
     */
    record Less(
            String says,
            Metric metric,
            Map<String, String> less,
            Map<String, String> than,
            double times,
            Map<String, String> where)
            implements Claim {

        public Less {
            less = Collections.unmodifiableMap(new LinkedHashMap<>(less));
            than = Collections.unmodifiableMap(new LinkedHashMap<>(than));
            where = Collections.unmodifiableMap(new LinkedHashMap<>(where));
        }

        @Override
        public Verdict judge(List<Row> rows) {
            List<Verdict.Case> cases = new ArrayList<>();
            for (Row row : rows) {
                if (row.point().has(less) && row.point().has(where)) {
                    Map<String, String> other = new LinkedHashMap<>(row.point().labels());
                    other.putAll(than);
                    Optional<Row> counterpart = rows.stream()
                            .filter(each -> each.point().labels().equals(other))
                            .findFirst();
                    counterpart.ifPresent(more -> cases.add(compare(row, more)));
                }
            }
            return new Verdict(this, cases);
        }

        private Verdict.Case compare(Row some, Row others) {
            double[] low = some.values(metric);
            double[] high = others.values(metric);
            // Runs of one seed have the same arrivals: the differences vary less than the values.
            double[] differences = new double[Math.min(low.length, high.length)];
            Arrays.setAll(differences, s -> times * high[s] - low[s]);
            Interval difference = Interval.of(differences);
            Map<String, String> labels = new LinkedHashMap<>(some.point().labels());
            less.keySet().forEach(labels::remove);
            return new Verdict.Case(
                    labels,
                    "%s against %s"
                            .formatted(Verdict.number(some.interval(metric)), Verdict.number(others.interval(metric))),
                    Verdict.Holds.of(difference));
        }
    }

    /**
     * Something is near what theory, or another measurement, says.
     *
     * @param of the quantity that it is compared with, of the same run; empty for {@code value}
     * @param within the part of it by which it may differ, beside the uncertainty of the mean
     */
    record Near(String says, Metric metric, Optional<Metric> of, double value, double within, Map<String, String> where)
            implements Claim {

        public Near {
            where = Collections.unmodifiableMap(new LinkedHashMap<>(where));
        }

        @Override
        public Verdict judge(List<Row> rows) {
            List<Verdict.Case> cases = new ArrayList<>();
            for (Row row : rows) {
                if (row.point().has(where)) {
                    Interval measured = row.interval(metric);
                    double expected =
                            of.map(other -> row.interval(other).mean()).orElse(value);
                    double tolerance = within * Math.abs(expected);
                    Verdict.Holds holds;
                    if (measured.low() <= expected + tolerance && measured.high() >= expected - tolerance) {
                        holds = measured.half() > tolerance + Math.abs(expected)
                                ? Verdict.Holds.UNCLEAR
                                : Verdict.Holds.YES;
                    } else {
                        holds = Double.isNaN(measured.half()) || Double.isNaN(expected)
                                ? Verdict.Holds.UNCLEAR
                                : Verdict.Holds.NO;
                    }
                    cases.add(new Verdict.Case(
                            row.point().labels(),
                            "%s against %s".formatted(Verdict.number(measured), Verdict.number(expected)),
                            holds));
                }
            }
            return new Verdict(this, cases);
        }
    }
}
