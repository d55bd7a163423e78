package dev.apportion.cli;

import static dev.apportion.cli.Bounds.MOST;
import static dev.apportion.cli.Bounds.MOST_SECONDS;
import static dev.apportion.cli.Bounds.MOST_SERVERS;
import static dev.apportion.cli.Bounds.MOST_SLOTS;
import static dev.apportion.cli.Bounds.percent;
import static dev.apportion.cli.Bounds.whole;
import static dev.apportion.cli.Bounds.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.allocation.LeastConnectionsRun;
import dev.apportion.allocation.Policy;
import dev.apportion.allocation.Tolerance;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.cli.ScenarioSpec.ConnectionsSpec;
import dev.apportion.cli.ScenarioSpec.DispatchSpec;
import dev.apportion.cli.ScenarioSpec.DnsSpec;
import dev.apportion.cli.ScenarioSpec.GlobalQueueSpec;
import dev.apportion.reconcile.Policies;
import dev.apportion.records.Answers;
import dev.apportion.simulation.Dispatch;
import dev.apportion.simulation.Server;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes of what is written who decides which server a request goes to. */
final class DispatchReader {

    private static final ObjectMapper JSON = new ObjectMapper();

    private DispatchReader() {}

    static Dispatch read(DispatchSpec dispatch, List<Server> servers) throws Refused {
        long given = Stream.of(
                        dispatch.dns(),
                        dispatch.turns(),
                        dispatch.draws(),
                        dispatch.connections(),
                        dispatch.globalQueue(),
                        dispatch.central())
                .filter(Objects::nonNull)
                .count();
        if (given != 1) {
            throw new Refused(
                    "dispatch", "exactly one of dns, turns, draws, connections, globalQueue and central is required");
        }
        if (dispatch.dns() != null) {
            return dns(dispatch.dns());
        }
        if (dispatch.connections() != null) {
            ConnectionsSpec connections = dispatch.connections();
            Integer most = connections.maxContinuousAllocations();
            return new Dispatch.Connections(
                    most == null
                            ? OptionalInt.empty()
                            : OptionalInt.of(
                                    whole(most, 1, "dispatch.connections.maxContinuousAllocations", 1, MOST_SLOTS)),
                    connections.round() == null ? LeastConnectionsRun.Round.ALLOCATION : connections.round().round);
        }
        if (dispatch.globalQueue() != null || dispatch.central() != null) {
            return sites(dispatch, servers);
        }
        return dispatch.turns() != null ? new Dispatch.Turns() : new Dispatch.Draws();
    }

    private static Dispatch sites(DispatchSpec dispatch, List<Server> servers) throws Refused {
        for (int i = 0; i < servers.size(); i++) {
            Server server = servers.get(i);
            if (server.speed() != servers.getFirst().speed()
                    || server.discipline() != Server.Discipline.FIFO
                    || server.absence().isPresent()
                    || server.slowStart().isPresent()) {
                throw new Refused(
                        "dispatch",
                        "globalQueue and central take servers of one speed that are FIFO and always there; %s is not"
                                .formatted(server.name()));
            }
        }
        GlobalQueueSpec queue = dispatch.globalQueue();
        if (queue == null) {
            return new Dispatch.Central();
        }
        double budget = queue.linkBudget() == null
                ? Double.POSITIVE_INFINITY
                : within(queue.linkBudget(), "dispatch.globalQueue.linkBudget", 0, MOST);
        return new Dispatch.GlobalQueue(budget, Boolean.TRUE.equals(queue.reclaim()));
    }

    private static Dispatch dns(DnsSpec dns) throws Refused {
        String path = "dispatch.dns.";
        return new Dispatch.Dns(
                policy(dns.policy(), path + "policy"),
                dns.answers() == null ? Answers.Single : dns.answers(),
                whole(dns.maxReplicas(), MOST_SERVERS, path + "maxReplicas", 1, MOST_SERVERS),
                dns.ttlSeconds() == null ? 15 : within(dns.ttlSeconds(), path + "ttlSeconds", 0, MOST_SECONDS),
                dns.replanSeconds() == null
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(within(dns.replanSeconds(), path + "replanSeconds", 0.1, MOST_SECONDS)),
                dns.detectSeconds() == null ? 0 : within(dns.detectSeconds(), path + "detectSeconds", 0, MOST_SECONDS),
                new Tolerance(
                        percent(dns.actAbovePercent(), 10, path + "actAbovePercent"),
                        percent(dns.repairToPercent(), 2, path + "repairToPercent"),
                        1),
                dns.order() == null ? Dispatch.Order.DRAWN : dns.order().order);
    }

    /** The policy as a ReplicaPool has it, with the same bounds. */
    private static Policy policy(@Nullable JsonNode policy, String path) throws Refused {
        if (policy == null) {
            return Policies.of(ReplicaPoolSpec.Policy.DEFAULT);
        }
        ObjectNode pool = JSON.createObjectNode();
        ObjectNode spec = pool.putObject("spec");
        ObjectNode site = spec.putArray("sites").addObject().put("name", "main");
        site.putArray("endpoints").addObject().put("name", "any").put("address", "192.0.2.1");
        spec.set("policy", policy);
        try {
            JSON.treeToValue(policy, ReplicaPoolSpec.Policy.class);
            ReplicaPool read = JSON.treeToValue(pool, ReplicaPool.class);
            ReplicaPoolSpec known = read.getSpec();
            if (known == null) {
                throw new Refused(path, String.valueOf(read.unreadable()));
            }
            return Policies.of(known.policy());
        } catch (UnrecognizedPropertyException e) {
            throw new Refused(
                    path + "." + e.getPropertyName(),
                    "there is no such field; maybe one of %s"
                            .formatted(e.getKnownPropertyIds().stream()
                                    .map(String::valueOf)
                                    .sorted()
                                    .collect(Collectors.joining(", "))));
        } catch (JsonProcessingException e) {
            throw new Refused(path, e.getOriginalMessage());
        }
    }
}
