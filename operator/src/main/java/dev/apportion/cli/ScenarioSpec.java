package dev.apportion.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.records.Answers;
import dev.apportion.simulation.Dispatch;
import dev.apportion.simulation.Resolvers;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A scenario as it is written, without what varies it. Sizes of requests are seconds of work of a server with speed 1.
 *
 * @param seconds the virtual time until the last request
 * @param warmUpSeconds the part of it at the begin that is not measured; by default a tenth
 * @param newcomerSeconds for how long a server that comes is a newcomer; by default a quarter of what a request of mean size takes
 */
record ScenarioSpec(
        @Nullable Double seconds,
        @Nullable Double warmUpSeconds,
        @Nullable Double newcomerSeconds,
        @Nullable List<ServerSpec> servers,
        @Nullable List<PopulationSpec> populations,
        @Nullable TrafficSpec traffic,
        @Nullable RhythmSpec rhythm,
        @Nullable ReplaySpec replay,
        @Nullable RequestsSpec requests,
        @Nullable NetworkSpec network,
        @Nullable ResolversSpec resolvers,
        @Nullable DispatchSpec dispatch) {

    /** Servers that are alike. */
    record ServerSpec(
            @Nullable String name,
            @Nullable Integer count,
            @Nullable String site,
            @Nullable Double speed,
            @Nullable Integer slots,
            @Nullable Discipline discipline,
            @Nullable Double absentFrom,
            @Nullable Double absentUntil,
            @Nullable SlowStartSpec slowStart) {}

    /** What happens beyond the slots. */
    enum Discipline {
        FIFO,
        Sharing
    }

    record SlowStartSpec(@Nullable Double seconds, @Nullable Double percent) {}

    /** Populations that are alike. */
    record PopulationSpec(
            @Nullable String name,
            @Nullable Integer count,
            @Nullable Double rate,
            @Nullable String home,
            @Nullable Double delayMillis) {}

    /** The rates of populations that say none: a part of all that servers bear, or requests/s, and how they are spread. */
    record TrafficSpec(
            @Nullable Double utilisation,
            @Nullable Double rate,
            @Nullable PatternSpec pattern) {}

    record PatternSpec(@Nullable Double zipf, @Nullable Double oneHotPercent) {}

    /** At most one of its fields. */
    record RhythmSpec(
            @Nullable DiurnalSpec diurnal, @Nullable BurstsSpec bursts) {}

    record DiurnalSpec(
            @Nullable Double periodSeconds, @Nullable Double percent) {}

    record BurstsSpec(
            @Nullable Double times,
            @Nullable Double onSeconds,
            @Nullable Double offSeconds) {}

    /**
     * Arrivals of a log.
     *
     * @param file relative to the folder of the scenario
     * @param format by default CSV for a name that ends with .csv, and Common Log Format for others
     * @param time the column of the time in a CSV file; "time" if it is absent
     * @param client the column of the client in a CSV file; "client" if it is absent
     * @param prefixLength the bits of IPv4 addresses that a population has in common; absent if each client is one
     * @param prefixLength6 the same of IPv6 addresses
     * @param speedup how many times as fast it is played
     */
    record ReplaySpec(
            @Nullable String file,
            @Nullable LogFormat format,
            @Nullable String time,
            @Nullable String client,
            @Nullable Integer prefixLength,
            @Nullable Integer prefixLength6,
            @Nullable Double speedup) {}

    /** How a log is written. */
    enum LogFormat {
        CSV,
        CommonLog
    }

    record RequestsSpec(@Nullable LawSpec size) {}

    record LawSpec(
            @Nullable Double fixed,
            @Nullable Double exponential,
            @Nullable ParetoSpec boundedPareto) {}

    record ParetoSpec(
            @Nullable Double shape,
            @Nullable Double least,
            @Nullable Double most) {}

    record NetworkSpec(
            @Nullable Double remoteDelayMillis, @Nullable Double bandwidth) {}

    record ResolversSpec(
            @Nullable Integer perPopulation,
            @Nullable Map<String, Double> habits,
            @Nullable Double leastTtlSeconds) {}

    /** Exactly one of its fields. */
    record DispatchSpec(
            @Nullable DnsSpec dns,
            @Nullable Empty turns,
            @Nullable Empty draws,
            @Nullable ConnectionsSpec connections,
            @Nullable GlobalQueueSpec globalQueue,
            @Nullable Empty central) {}

    record Empty() {}

    record DnsSpec(
            @Nullable JsonNode policy,
            @Nullable Answers answers,
            @Nullable Order order,
            @Nullable Integer maxReplicas,
            @Nullable Double ttlSeconds,
            @Nullable Double replanSeconds,
            @Nullable Double detectSeconds,
            @Nullable Double actAbovePercent,
            @Nullable Double repairToPercent) {}

    /** How the server finds the address that comes first. */
    enum Order {
        Drawn(Dispatch.Order.DRAWN),
        InTurn(Dispatch.Order.IN_TURN);

        final Dispatch.Order order;

        Order(Dispatch.Order order) {
            this.order = order;
        }
    }

    record ConnectionsSpec(
            @Nullable Integer maxContinuousAllocations,
            @Nullable Round round) {}

    /** What an allocation round is, as in a ReplicaPool. */
    enum Round {
        Allocation(LeastConnectionsRun.Round.ALLOCATION),
        Cycle(LeastConnectionsRun.Round.CYCLE);

        final LeastConnectionsRun.Round round;

        Round(LeastConnectionsRun.Round round) {
            this.round = round;
        }
    }

    record GlobalQueueSpec(
            @Nullable Double linkBudget, @Nullable Boolean reclaim) {}

    /** The names of resolvers' habits, as they are written. */
    static Resolvers.@Nullable Habit habit(String name) {
        return switch (name) {
            case "Rotates" -> Resolvers.Habit.ROTATES;
            case "Shuffles" -> Resolvers.Habit.SHUFFLES;
            case "Sorts" -> Resolvers.Habit.SORTS;
            case "Pins" -> Resolvers.Habit.PINS;
            case "KeepsLonger" -> Resolvers.Habit.KEEPS_LONGER;
            default -> null;
        };
    }
}
