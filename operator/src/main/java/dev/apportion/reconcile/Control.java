package dev.apportion.reconcile;

import dev.apportion.load.Track;
import dev.apportion.records.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The closed loop of one pool between two looks at it: the plan that is in force, and what has to be remembered beside it. What
 * is found comes in as one value, time with it; what follows is the next such state. Pure.
 *
 * @param plan the plan that was made last; empty before there was one
 * @param provisional whether it was made before it was known what is published
 * @param newcomers since when its replicas serve
 * @param removals replicas that vanished
 * @param estimates what was made of measurements
 * @param measuredSince since when it is measured, in nanoseconds of the monotonic clock; empty if it is not
 * @param changedAt when its answers last changed, in nanoseconds of the monotonic clock; empty if they did not
 * @param inherited of what was published before this operator planned it, the capacities over the declared ones, by the names of
 *     replicas; empty if nothing was
 */
record Control(
        Optional<PoolPlan> plan,
        boolean provisional,
        Newcomers newcomers,
        Removals removals,
        Estimates estimates,
        Optional<Long> measuredSince,
        Optional<Long> changedAt,
        Optional<Map<String, Double>> inherited) {

    static final Control NEW = new Control(
            Optional.empty(),
            false,
            Newcomers.UNSEEN,
            Removals.NONE,
            Estimates.NONE,
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    /** Clocks of different kinds may disagree by less than this. */
    private static final Duration AFTER_COOLING = Duration.ofMillis(20);

    /** How often it is looked whether measurements have settled. */
    private static final Duration SETTLING_STEP = Duration.ofSeconds(5);

    /**
     * What was found at one look.
     *
     * @param members the replicas, in any order
     * @param demands the streams of all services that share the pool
     * @param longestTtl the longest time for which an answer of the pool is remembered
     * @param published what DNS says of each stream, by {@link Demand#key()}; counts for streams that the plan does not know
     * @param unread whether some of what is published cannot be read yet
     * @param loads what counts of each process
     * @param queried the rates that queries gave, by {@link Demand#key()}; empty where a query gave none that counts
     * @param doubt why what is known of replicas may not be all; empty if nothing speaks for it
     * @param cycle how long doubts are given to clear up
     * @param nowNanos the time of the monotonic clock
     */
    record Seen(
            AdmittedPool pool,
            List<Member> members,
            List<Demand> demands,
            Duration longestTtl,
            Map<String, List<Answer>> published,
            boolean unread,
            Function<Member.Server, Track.Load> loads,
            Map<String, OptionalDouble> queried,
            Optional<String> doubt,
            Duration cycle,
            long nowNanos) {}

    /** The plan that is in force: none where it was made without knowing what is published. */
    Optional<PoolPlan> inForce() {
        return provisional ? Optional.empty() : plan;
    }

    /** Whether nothing of what is published has to be known, because the plan has answers for all of these streams. */
    boolean answersAll(List<Demand> demands) {
        return inForce()
                .filter(known -> known.streams().stream()
                                .noneMatch(stream -> stream.answers().isEmpty())
                        && knows(known, demands))
                .isPresent();
    }

    /** Says whether a plan has all streams: what is published of others, such as keys whose list was away, is not in it. */
    private static boolean knows(PoolPlan plan, List<Demand> demands) {
        Set<String> planned =
                plan.streams().stream().map(stream -> stream.demand().key()).collect(Collectors.toSet());
        return demands.stream().map(Demand::key).allMatch(planned::contains);
    }

    /** The state after one more look; its plan is there. */
    Control next(Seen seen) {
        AdmittedPool pool = seen.pool();
        long now = seen.nowNanos();
        // Whoever changes the list of sites means it.
        boolean sameSites = inForce()
                .filter(before -> before.basis().sites().equals(pool.sites()))
                .isPresent();
        Removals gone = sameSites
                ? removals.next(seen.members(), pool.behavior().maxRemovalPercent(), seen.doubt(), seen.cycle(), now)
                : Removals.NONE.next(seen.members(), 0, Optional.empty(), seen.cycle(), now);
        List<Member> found = gone.members(seen.members());
        Newcomers serving = newcomers.next(found, now);
        List<Member> members =
                found.stream().map(member -> warm(member, pool, serving, now)).toList();
        Optional<Long> since = pool.load().isEmpty() ? Optional.empty() : measuredSince.or(() -> Optional.of(now));
        Optional<Map<String, Double>> legacy = inherited.or(() -> takenOver(seen));
        boolean settling = legacy.isPresent() && isSettling(since, pool, now);
        Estimates known = settling ? estimates.inheriting(legacy.orElseThrow()) : estimates;
        Estimates.Judged judged = pool.load().isEmpty()
                ? known.unmeasured(members, seen.demands(), seen.queried())
                : known.next(
                        members,
                        seen.demands(),
                        seen.loads(),
                        member -> serving.age(member, now)
                                        .compareTo(pool.load().get().staleAfter())
                                >= 0,
                        seen.queried(),
                        AdmittedPool.Behavior.inForceAfter(seen.longestTtl()),
                        pool.load().get().interval(),
                        inForce());
        PoolPlan next = PoolPlanner.plan(
                pool,
                judged.members(),
                judged.demands(),
                new Past(
                        inForce(),
                        seen.published(),
                        gone.hold().isPresent()
                                || !coolingFor(pool, seen.longestTtl(), now).isZero(),
                        settling,
                        gone.hold().map(Removals.Hold::words)));
        boolean moved = next.course().moved() && !inForce().equals(Optional.of(next));
        return new Control(
                Optional.of(next),
                seen.unread(),
                serving,
                gone,
                judged.estimates(),
                since,
                moved ? Optional.of(now) : changedAt,
                legacy);
    }

    /** What another operator has published, if it has and nothing is planned yet. */
    private Optional<Map<String, Double>> takenOver(Seen seen) {
        return inForce().isEmpty()
                        && seen.pool().load().isPresent()
                        && seen.demands().stream().map(Demand::key).anyMatch(seen.published()::containsKey)
                ? Optional.of(Legacy.factors(seen.pool(), seen.members(), seen.demands(), seen.published()))
                : Optional.empty();
    }

    private static Member warm(Member member, AdmittedPool pool, Newcomers serving, long now) {
        return pool.behavior()
                .slowStart()
                .filter(ramp -> member.isReady())
                .map(ramp -> ramp.part(serving.age(member, now)))
                .filter(part -> part < 1)
                .map(member::warm)
                .orElse(member);
    }

    /**
     * Whether a pool is measured for too short a time for what is published to be judged by it. That of the operator that was
     * there before rests on longer experience.
     */
    private static boolean isSettling(Optional<Long> measuredSince, AdmittedPool pool, long now) {
        return pool.load().isPresent()
                && measuredSince
                        .map(first -> now - first < Estimates.HALF_LIFE.toNanos())
                        .orElse(true);
    }

    /** How long the last change is too recent yet for another one that can wait. */
    private Duration coolingFor(AdmittedPool pool, Duration longestTtl, long now) {
        Duration left = changedAt
                .map(at -> pool.behavior()
                        .cooldown(
                                longestTtl,
                                pool.load().map(AdmittedPool.Load::interval).orElse(Duration.ZERO))
                        .minusNanos(now - at))
                .orElse(Duration.ZERO);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** When the pool is to be looked at again without anything else happening; empty if it need not. */
    Optional<Duration> again(AdmittedPool pool, Duration longestTtl, Duration cycle, long now) {
        Optional<Duration> unfinished = plan.filter(known -> known.course().isUnfinished())
                .map(known -> inherited.isPresent() && isSettling(measuredSince, pool, now)
                        ? SETTLING_STEP
                        : coolingFor(pool, longestTtl, now).plus(AFTER_COOLING));
        Optional<Duration> warming = plan.filter(known -> known.warming() > 0)
                .flatMap(known -> pool.behavior().slowStart().map(AdmittedPool.SlowStart::step));
        Optional<Duration> held = removals.left(cycle, now).map(left -> left.plus(AFTER_COOLING));
        return Stream.of(unfinished, warming, held).flatMap(Optional::stream).min(Duration::compareTo);
    }

    /**
     * What is left when nobody looks any more: what was measured, and who is new, is not known later. What measurements had taught
     * is, as that of another operator would be.
     */
    Control rested() {
        return new Control(
                plan,
                provisional,
                Newcomers.UNSEEN,
                Removals.NONE,
                Estimates.NONE,
                Optional.empty(),
                changedAt,
                measuredSince.isPresent() ? Optional.of(estimates.speeds().factors()) : inherited);
    }
}
