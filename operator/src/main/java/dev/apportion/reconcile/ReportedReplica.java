package dev.apportion.reconcile;

import dev.apportion.allocation.Sample;
import dev.apportion.api.ReplicaPoolStatus;
import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A replica as the status of its pool shows it: what {@link Statuses} wrote of it, read back. Numbers have the four decimals that a
 * status has.
 *
 * @param declared what it bears by declaration, in requests/s
 * @param capacity what it bears as far as is known, in requests/s
 * @param warmth the part of its share that it may have yet
 * @param load requests/s over capacity, of what is published
 */
record ReportedReplica(
        String name,
        String site,
        List<IPAddress> addresses,
        Member.State state,
        double declared,
        double capacity,
        double warmth,
        Sample measured,
        Member.Load from,
        double load,
        double level,
        double share,
        List<String> because) {

    private static final double PERCENT = 100;

    private static final Pattern WARMTH = Pattern.compile(Statuses.WARMING.formatted("([0-9]+)"));
    private static final Pattern ESTIMATE =
            Pattern.compile(Estimates.ESTIMATED.formatted(Shown.NUMBER, Shown.NUMBER, ".*"));

    static ReportedReplica of(ReplicaPoolStatus.Row row) {
        double capacity = number(row.capacity());
        double declared = capacity;
        double warmth = 1;
        List<String> because = new ArrayList<>();
        for (String reason : text(row.because()).split("; ", -1)) {
            Matcher ramp = WARMTH.matcher(reason);
            Matcher estimate = ESTIMATE.matcher(reason);
            if (ramp.matches()) {
                // Rounded to whole percent it may be none.
                warmth = Math.max(1, Integer.parseInt(ramp.group(1))) / PERCENT;
            } else if (!reason.isEmpty()) {
                declared = estimate.matches() ? Double.parseDouble(estimate.group(2)) : declared;
                because.add(reason);
            }
        }
        String measured = text(row.measured());
        boolean hot = because.contains(Estimates.ALL_HOT);
        return new ReportedReplica(
                row.name(),
                text(row.site()),
                addresses(text(row.address())),
                state(text(row.state())),
                declared,
                capacity,
                warmth,
                Shown.read(measured),
                load(measured, hot),
                number(row.load()),
                number(row.level()),
                number(row.share()),
                List.copyOf(because));
    }

    /**
     * The replica as plans see it.
     *
     * @param nowDeclared what it bears by what is declared now: what was learned of it is in proportion to that
     */
    Member member(double nowDeclared, int concurrency) {
        return new Member(
                name,
                site,
                nowDeclared,
                declared > 0 ? capacity * nowDeclared / declared : nowDeclared,
                concurrency,
                measured,
                from,
                warmth,
                List.of(),
                addresses,
                state,
                because);
    }

    PoolPlan.Replica planned(Member member) {
        return new PoolPlan.Replica(member, load, level, share, "");
    }

    private static Member.State state(String word) {
        return switch (word) {
            case "NotReady" -> Member.State.NotReady;
            case "Draining" -> Member.State.Draining;
            default -> Member.State.Ready;
        };
    }

    private static List<IPAddress> addresses(String joined) {
        return Arrays.stream(joined.split(",", -1))
                .filter(text -> !text.isEmpty())
                .map(Addresses::parse)
                .<IPAddress>mapMulti((parsed, taken) -> {
                    if (parsed instanceof Parsed.Value<IPAddress>(IPAddress address)) {
                        taken.accept(address);
                    }
                })
                .toList();
    }

    private static Member.Load load(String measured, boolean hot) {
        if (measured.startsWith(Statuses.NOTHING)) {
            return new Member.Load.Missing(measured.substring(Statuses.NOTHING.length()), false);
        }
        int held = measured.indexOf(Statuses.HELD);
        String reason = held < 0 ? "" : measured.substring(held + Statuses.HELD.length());
        if (hot) {
            return new Member.Load.Hot(reason);
        }
        if (held >= 0) {
            return new Member.Load.Held(reason, false);
        }
        return measured.isEmpty() || measured.endsWith(Statuses.FIXED)
                ? new Member.Load.Declared()
                : new Member.Load.Measured();
    }

    /** A decimal text of a status; zero where there is none. */
    static double number(@Nullable String text) {
        try {
            return text == null ? 0 : Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }
}
