package dev.apportion.reconcile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Replicas that vanished all at once. A replica that is said to be dead leaves at once, whoever else does; but where many are
 * not spoken of any more, while there is reason to doubt that everything is known, they stay for a cycle: what is true is still
 * true after it. Pure.
 *
 * @param served the replicas that were ready before, the vanished ones among them as long as they are held
 * @param hold what is held; empty if nothing is
 */
record Removals(List<Member> served, Optional<Hold> hold) {

    static final Removals NONE = new Removals(List.of(), Optional.empty());

    private static final int PERCENT = 100;

    Removals {
        served = List.copyOf(served);
    }

    /**
     * Vanished replicas that stay.
     *
     * @param sinceNanos since when, in nanoseconds of the monotonic clock
     * @param vanished how many they are
     * @param of how many were ready before
     * @param doubt why they are not believed to be gone
     */
    record Hold(long sinceNanos, int vanished, int of, String doubt) {

        String words() {
            return "%d of %d replicas vanished at once, and %s; they are kept for a cycle"
                    .formatted(vanished, of, doubt);
        }
    }

    /**
     * After one more look at the replicas.
     *
     * @param most how many may vanish at once, in percent of those that were ready
     * @param doubt why what is known of replicas may not be all; empty if nothing speaks for it
     * @param cycle how long they are held
     */
    Removals next(List<Member> found, int most, Optional<String> doubt, Duration cycle, long nowNanos) {
        List<Member> ready = found.stream().filter(Member::isReady).toList();
        int vanished = vanished(found).size();
        // Where nobody is left the last answers stay anyway.
        boolean many = !ready.isEmpty() && (long) PERCENT * vanished > (long) most * served.size();
        boolean over = hold.map(held -> nowNanos - held.sinceNanos() >= cycle.toNanos())
                .orElse(doubt.isEmpty());
        if (!many || over) {
            return new Removals(ready, Optional.empty());
        }
        return new Removals(
                served,
                Optional.of(new Hold(
                        hold.map(Hold::sinceNanos).orElse(nowNanos),
                        vanished,
                        served.size(),
                        hold.map(Hold::doubt).or(() -> doubt).orElseThrow())));
    }

    /** The replicas to plan with: those that were found, and those that are held. */
    List<Member> members(List<Member> found) {
        if (hold.isEmpty()) {
            return found;
        }
        List<Member> all = new ArrayList<>(found);
        vanished(found).forEach(member -> all.add(member.because("vanished, but kept for a cycle")));
        return all;
    }

    private List<Member> vanished(List<Member> found) {
        Set<String> names = found.stream().map(Member::name).collect(Collectors.toCollection(HashSet::new));
        return served.stream().filter(member -> !names.contains(member.name())).toList();
    }

    /** How long the replicas that are held stay yet; empty if none is. */
    Optional<Duration> left(Duration cycle, long nowNanos) {
        return hold.map(held -> cycle.minusNanos(nowNanos - held.sinceNanos()))
                .map(left -> left.isNegative() ? Duration.ZERO : left);
    }
}
