package dev.apportion.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.reconcile.Plan;
import dev.apportion.reconcile.PoolPlan;
import inet.ipaddr.IPAddress;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.stream.Collectors;

/** A plan as one JSON object, the same byte for byte for the same plan. */
final class PlanReport {

    /** Digits after the point: more than any weight can express, fewer than show the noise of binary fractions. */
    private static final int DECIMALS = 9;

    static final ObjectMapper JSON = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .enable(com.fasterxml.jackson.core.JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN);

    private PlanReport() {}

    static String json(Plan plan) {
        ObjectNode root = JSON.createObjectNode();
        ArrayNode pools = root.putArray("pools");
        plan.pools().values().forEach(pool -> pool(pools.addObject(), pool));
        if (!plan.endpoints().isEmpty()) {
            ArrayNode endpoints = root.putArray("endpoints");
            plan.endpoints().values().forEach(endpoint -> endpoints.add(JSON.<ObjectNode>valueToTree(endpoint)));
        }
        ArrayNode problems = root.putArray("problems");
        for (Plan.Problem problem : plan.problems()) {
            problem(problems.addObject(), problem);
        }
        return root.toPrettyString();
    }

    static void problem(ObjectNode node, Plan.Problem problem) {
        node.put("kind", problem.kind())
                .put("namespace", problem.resource().namespace())
                .put("name", problem.resource().name())
                .put("condition", problem.finding().type())
                .put("reason", problem.finding().reason())
                .put("message", problem.finding().message());
    }

    private static void pool(ObjectNode node, PoolPlan pool) {
        node.put("namespace", pool.pool().namespace())
                .put("name", pool.pool().name())
                .put("policy", pool.policy())
                .put("makespan", number(pool.makespan()))
                .put("average", number(pool.average()))
                .put("lowerBound", number(pool.lowerBound()))
                .put("optimalityGap", number(pool.optimalityGap()));
        ArrayNode replicas = node.putArray("replicas");
        for (PoolPlan.Replica replica : pool.replicas()) {
            ObjectNode row = replicas.addObject();
            row.put("name", replica.member().name())
                    .put("address", addresses(replica.member().addresses()))
                    .put("capacity", number(replica.member().capacity()))
                    .put("load", number(replica.load()))
                    .put("level", number(replica.level()));
            if (!replica.because().isEmpty()) {
                row.put("because", replica.because());
            }
        }
        ArrayNode streams = node.putArray("streams");
        for (PoolPlan.Stream stream : pool.streams()) {
            stream(streams.addObject(), stream);
        }
    }

    private static void stream(ObjectNode node, PoolPlan.Stream stream) {
        String name = stream.demand().stream();
        node.put("namespace", stream.demand().service().namespace())
                .put("service", stream.demand().service().name())
                .put("stream", name.isEmpty() ? null : name)
                .put("hostname", stream.demand().hostname())
                .put("rate", number(stream.demand().rate()));
        ArrayNode answers = node.putArray("answers");
        for (PoolPlan.Row row : stream.answers()) {
            answers.addObject()
                    .put("address", row.address().toCanonicalString())
                    .put("replica", row.replica())
                    .put("weight", row.weight())
                    .put("share", number(row.share()));
        }
    }

    private static String addresses(List<IPAddress> addresses) {
        return addresses.stream().map(IPAddress::toCanonicalString).collect(Collectors.joining(","));
    }

    static BigDecimal number(double value) {
        BigDecimal rounded = BigDecimal.valueOf(value)
                .setScale(DECIMALS, RoundingMode.HALF_EVEN)
                .stripTrailingZeros();
        return rounded.scale() < 0 ? rounded.setScale(0) : rounded;
    }
}
