package dev.apportion.reconcile;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Since when the replicas of a pool serve. Those that served when the pool was first seen have done so for ever, as far as
 * anybody knows: a start of the operator makes nobody new. Pure.
 *
 * @param since the times of replicas by name and process, in nanoseconds of the monotonic clock; empty before the pool was seen
 */
record Newcomers(Optional<Map<String, Optional<Long>>> since) {

    static final Newcomers UNSEEN = new Newcomers(Optional.empty());

    private static final Duration FOR_EVER = Duration.ofDays(365);

    Newcomers {
        since = since.map(Map::copyOf);
    }

    /** After one more look at a pool. */
    Newcomers next(List<Member> members, long nowNanos) {
        Map<String, Optional<Long>> next = new HashMap<>();
        for (Member member : members) {
            if (member.isReady()) {
                String key = key(member);
                Optional<Long> first = since.isEmpty() ? Optional.empty() : Optional.of(nowNanos);
                next.put(key, since.map(known -> known.getOrDefault(key, first)).orElse(first));
            }
        }
        return new Newcomers(Optional.of(next));
    }

    /** For how long a replica has served. */
    Duration age(Member member, long nowNanos) {
        return since.flatMap(known -> known.getOrDefault(key(member), Optional.empty()))
                .map(first -> Duration.ofNanos(nowNanos - first))
                .orElse(FOR_EVER);
    }

    /** A pod of a name that was there before is another one. */
    private static String key(Member member) {
        return member.name() + " "
                + member.processes().stream().map(Member.Server::uid).sorted().collect(Collectors.joining(","));
    }
}
