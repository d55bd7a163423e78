package dev.apportion.cli;

import dev.apportion.allocation.Sample;
import dev.apportion.reconcile.Member;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.PoolPlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** A plan in words, from what is known of the replicas to the integers. */
final class Explanation {

    private static final double PERCENT = 100;

    /** Loads and bounds that differ by less are the same but for rounding. */
    private static final double SAME = 1e-6;

    /** What is known besides, each line of it. */
    interface Notes {

        /** Nothing. */
        Notes NONE = new Notes() {
            @Override
            public List<String> of(PoolPlan pool) {
                return List.of();
            }

            @Override
            public List<String> of(PoolPlan.Stream stream) {
                return List.of();
            }
        };

        List<String> of(PoolPlan pool);

        List<String> of(PoolPlan.Stream stream);
    }

    private Explanation() {}

    /** Explains what follows from manifests. */
    static String text(Plan plan, Predicate<PoolPlan> pools, Predicate<PoolPlan.Stream> streams) {
        return text(plan, pools, streams, Notes.NONE);
    }

    /**
     * Explains whole pools, and single streams with the replicas that they use.
     *
     * @return empty if there is none
     */
    static String text(Plan plan, Predicate<PoolPlan> pools, Predicate<PoolPlan.Stream> streams, Notes notes) {
        StringBuilder text = new StringBuilder();
        for (PoolPlan pool : plan.pools().values()) {
            boolean whole = pools.test(pool);
            List<PoolPlan.Stream> chosen = pool.streams().stream()
                    .filter(stream -> whole || streams.test(stream))
                    .toList();
            if (whole || !chosen.isEmpty()) {
                text.append(text.isEmpty() ? "" : System.lineSeparator()).append(pool(pool));
                notes.of(pool).forEach(note -> text.append("  %s%n".formatted(note)));
                for (PoolPlan.Replica replica : pool.replicas()) {
                    if (whole || isUsed(replica.member().name(), chosen)) {
                        text.append(replica(replica));
                    }
                }
                for (PoolPlan.Stream stream : chosen) {
                    text.append(stream(stream));
                    notes.of(stream).forEach(note -> text.append("    %s%n".formatted(note)));
                }
            }
        }
        return text.toString();
    }

    private static boolean isUsed(String replica, List<PoolPlan.Stream> streams) {
        return streams.stream()
                .anyMatch(stream ->
                        stream.given().containsKey(replica) || stream.shares().containsKey(replica));
    }

    private static String pool(PoolPlan pool) {
        StringBuilder text = new StringBuilder("ReplicaPool %s, policy %s, %d of %d replicas ready%n"
                .formatted(
                        pool.pool(),
                        pool.policy(),
                        pool.ready(),
                        pool.replicas().size()));
        text.append("  the largest load is %s of a replica's capacity, the mean %s%n"
                .formatted(percent(pool.makespan()), percent(pool.average())));
        text.append(
                pool.optimalityGap() < SAME
                        ? "  no allocation has a smaller one: it meets the lower bound%n".formatted()
                        : "  no allocation has a smaller one than %s, so this is within %.2f%% of the best%n"
                                .formatted(percent(pool.lowerBound()), pool.optimalityGap() * PERCENT));
        if (pool.lowerBound() > pool.average() * (1 + SAME)) {
            text.append(
                    "  that bound is above the mean: some streams are too large for the replicas that they may use%n"
                            .formatted());
        }
        List<String> unused = pool.unused();
        if (!unused.isEmpty()) {
            text.append("  in no answer: %s%n".formatted(String.join(", ", unused)));
        }
        if (!pool.course().what().isEmpty()) {
            text.append("  %s%n".formatted(pool.course().what()));
        }
        return text.toString();
    }

    private static String replica(PoolPlan.Replica replica) {
        Member member = replica.member();
        StringBuilder text = new StringBuilder("  replica %s, site %s: %s%n"
                .formatted(
                        member.name(),
                        member.site(),
                        switch (member.state()) {
                            case Ready -> member.addresses().isEmpty() ? "ready, but without address" : "ready";
                            case NotReady -> "not ready, so in no answer";
                            case Draining -> "draining, so in no answer";
                        }));
        text.append("    bears %s requests/s".formatted(number(member.capacity())));
        if (Math.abs(member.capacity() - member.declared()) > SAME * member.declared()) {
            text.append(", as measured; declared are %s".formatted(number(member.declared())));
        }
        text.append(System.lineSeparator());
        member.because().forEach(reason -> text.append("    %s%n".formatted(reason)));
        text.append("    %s%n".formatted(measured(member)));
        if (member.warmth() < 1) {
            text.append("    is warming up: at most %s of its share yet%n".formatted(percent(member.warmth())));
        }
        if (!replica.because().isEmpty()) {
            text.append("    policy: %s%n".formatted(replica.because()));
        }
        if (member.isReady()) {
            text.append("    gets %s of all traffic, a load of %s; its level is %s%n"
                    .formatted(percent(replica.share()), percent(replica.load()), percent(replica.level())));
        }
        return text.toString();
    }

    private static String measured(Member member) {
        Sample sample = member.measured();
        List<String> known = new ArrayList<>();
        add(known, "requests/s", sample.requests());
        add(known, "in flight", sample.inFlight());
        add(known, "connections", sample.connections());
        add(known, "users", sample.users());
        add(known, "distinct users", sample.uniqueUsers());
        add(known, "load average", sample.loadAverage());
        sample.utilisation().ifPresent(part -> known.add(percent(part) + " of what it requests"));
        String values = known.isEmpty() ? "nothing is measured of it" : "measured: " + String.join(", ", known);
        return switch (member.load()) {
            case Member.Load.Declared declared ->
                known.isEmpty() ? values : values + ", a fixed sample of its declaration";
            case Member.Load.Measured live -> values;
            case Member.Load.Hot(String held) ->
                "%s, as hot as every other, so capacity decides%s"
                        .formatted(values, held.isEmpty() ? "" : ", held: " + held);
            case Member.Load.Held(String reason, boolean partly) -> "%s, held: %s".formatted(values, reason);
            case Member.Load.Missing(String reason, boolean counted) -> "no measurement counts: %s".formatted(reason);
        };
    }

    private static void add(List<String> known, String what, OptionalDouble value) {
        value.ifPresent(number -> known.add(what + " " + number(number)));
    }

    private static String stream(PoolPlan.Stream stream) {
        StringBuilder text = new StringBuilder("  stream %s of %s: %s requests/s%s, %s%s%n"
                .formatted(
                        stream.demand().stream().isEmpty() ? "(everyone else)" : stream.demand().stream(),
                        stream.demand().hostname(),
                        number(stream.demand().rate()),
                        stream.demand().declared() ? "" : ", which nobody declared",
                        stream.demand().maxReplicas().isPresent()
                                ? "at most %d replicas"
                                        .formatted(stream.demand().maxReplicas().getAsInt())
                                : "any number of replicas",
                        sites(stream)));
        if (stream.answers().isEmpty()) {
            return text.append("    no replica is there for it, so its last answers stay%n".formatted())
                    .toString();
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("    ADDRESS", "REPLICA", "MEANT", "WEIGHT", "GIVEN", "ROUNDING"));
        for (PoolPlan.Row row : stream.answers()) {
            Optional<Double> meant = Optional.ofNullable(stream.shares().get(row.replica()));
            Optional<Double> given = Optional.ofNullable(stream.given().get(row.replica()));
            rows.add(List.of(
                    "    " + row.address().toCanonicalString(),
                    row.replica(),
                    meant.map(PlanTable::percent).orElse("-"),
                    Integer.toString(row.weight()),
                    PlanTable.percent(row.share()),
                    meant.isPresent() && given.isPresent()
                            ? String.format(Locale.ROOT, "%+.2f%%", PERCENT * (given.get() / meant.get() - 1))
                            : "-"));
        }
        text.append(PlanTable.aligned(rows));
        List<String> dropped = stream.shares().keySet().stream()
                .filter(replica -> !stream.given().containsKey(replica))
                .sorted(Comparator.naturalOrder())
                .toList();
        if (!dropped.isEmpty()) {
            text.append("    too small a share to be expressed: %s%n".formatted(String.join(", ", dropped)));
        }
        if (stream.restrained()) {
            text.append(
                    "    less is given than is meant to replicas that are warming up, or of which nothing is heard%n"
                            .formatted());
        }
        return text.toString();
    }

    private static String sites(PoolPlan.Stream stream) {
        String home = stream.demand().home().map(site -> ", at home in " + site).orElse("");
        return stream.demand().sites().isEmpty()
                ? home
                : home + ", only from "
                        + stream.demand().sites().stream().sorted().collect(Collectors.joining(", "));
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.4g", value);
    }

    private static String percent(double part) {
        return PlanTable.percent(part);
    }
}
