package dev.apportion.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.apportion.cli.ScenarioSpec.ReplaySpec;
import dev.apportion.simulation.ArrivalLog;
import dev.apportion.simulation.Claim;
import dev.apportion.simulation.Metric;
import dev.apportion.simulation.Point;
import dev.apportion.simulation.Scenario;
import dev.apportion.simulation.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Reads scenarios. A scenario is one document: what is simulated ({@link ScenarioSpec}), and {@code sweep}: for each thing that
 * is varied its path, and the values that it has in turn. {@code small} has paths and values of a run that is quick.
 */
final class Scenarios {

    private static final LoadSettings YAML = LoadSettings.builder()
            .setAllowDuplicateKeys(false)
            .setCodePointLimit(Integer.MAX_VALUE)
            .build();

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .build();

    /** More points are a slip of the pen. */
    private static final int MOST_POINTS = 10_000;

    /** Some hours of one processor; more is an endless run. */
    private static final double MOST_REQUESTS = 1e11;

    /** Some hours too: a stream is planned in about a microsecond. */
    private static final double MOST_PLANNED = 1e10;

    private static final double PERCENT = 100;

    private final String file;
    private final String text;
    private final JsonNode tree;
    private final Map<ReplaySpec, ArrivalLog> logs = new HashMap<>();

    /** What is no part of the setting. */
    private record Head(
            @Nullable String name,
            @Nullable String about,
            @Nullable String source,
            @Nullable Boolean reconstruction,
            @Nullable Seeds seeds,
            @Nullable List<String> show,
            @Nullable List<ClaimSpec> claims) {}

    private record Seeds(@Nullable Long first, @Nullable Integer count) {}

    private record ClaimSpec(
            @Nullable String says,
            @Nullable String metric,
            @Nullable Map<String, String> less,
            @Nullable Map<String, String> than,
            @Nullable Double times,
            @Nullable JsonNode near,
            @Nullable Double withinPercent,
            @Nullable Map<String, String> where) {}

    /** One thing that is varied. */
    private record Dimension(String path, String name, Map<String, JsonNode> values) {}

    private Scenarios(String file, String text) throws ScenarioException {
        this.file = file;
        this.text = text;
        tree = yaml();
    }

    /**
     * Reads a file.
     *
     * @param small whether the quick variant is wanted
     * @param seeds how many seeds instead of what the scenario says
     */
    static Scenario read(Path file, boolean small, OptionalInt seeds) throws ScenarioException {
        try {
            return parse(file.toString(), Files.readString(file), small, seeds);
        } catch (NoSuchFileException e) {
            throw new ScenarioException("%s: there is no such file".formatted(file));
        } catch (IOException e) {
            throw new ScenarioException("%s: cannot be read: %s".formatted(file, e.getMessage()));
        }
    }

    /** Reads a text that stands in a file. */
    static Scenario parse(String file, String text, boolean small, OptionalInt seeds) throws ScenarioException {
        return new Scenarios(file, text).scenario(small, seeds);
    }

    private JsonNode yaml() throws ScenarioException {
        try {
            JsonNode read = JSON.valueToTree(new Load(YAML).loadFromString(text));
            if (!read.isObject()) {
                throw new ScenarioException("%s:1:1: this is no scenario: fields are expected".formatted(file));
            }
            return read;
        } catch (MarkedYamlEngineException e) {
            throw new ScenarioException("%s:%s: this cannot be read as YAML: %s"
                    .formatted(file, e.getProblemMark().map(Scenarios::place).orElse("1:1"), e.getProblem()));
        } catch (YamlEngineException e) {
            String first = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            throw new ScenarioException("%s:1:1: this cannot be read as YAML: %s".formatted(file, first));
        }
    }

    private static String place(Mark mark) {
        return "%d:%d".formatted(mark.getLine() + 1, mark.getColumn() + 1);
    }

    private Scenario scenario(boolean small, OptionalInt seedCount) throws ScenarioException {
        ObjectNode base = tree.deepCopy();
        List<Dimension> dimensions = new ArrayList<>();
        JsonNode sweep = base.remove("sweep");
        JsonNode quick = base.remove("small");
        if (sweep != null) {
            for (Map.Entry<String, JsonNode> entry : fields(sweep, "sweep")) {
                dimensions.add(dimension(entry.getKey(), entry.getValue()));
            }
        }
        if (quick != null) {
            for (Map.Entry<String, JsonNode> entry : fields(quick, "small")) {
                if (small) {
                    shrink(base, dimensions, entry.getKey(), entry.getValue());
                }
            }
        }
        ObjectNode head = JSON.createObjectNode();
        for (String field : List.of("name", "about", "source", "reconstruction", "seeds", "show", "claims")) {
            JsonNode value = base.remove(field);
            if (value != null) {
                head.set(field, value);
            }
        }
        Head read = value(head, Head.class, "");
        List<Point> points = points(base, dimensions);
        List<Long> seeds = seeds(read.seeds(), seedCount);
        double requests =
                points.stream().mapToDouble(point -> point.setting().requests()).sum() * seeds.size();
        if (!(requests <= MOST_REQUESTS)) {
            throw fault(
                    "seconds",
                    "%d points with %d seeds each are %.3g requests, which would not end; maybe fewer seconds, points or seeds"
                            .formatted(points.size(), seeds.size(), requests));
        }
        double planned =
                points.stream().mapToDouble(point -> point.setting().planned()).sum() * seeds.size();
        if (!(planned <= MOST_PLANNED)) {
            throw fault(
                    "seconds",
                    "%d points with %d seeds each plan %.3g streams, which would not end; maybe more replanSeconds, or fewer seconds"
                            .formatted(points.size(), seeds.size(), planned));
        }
        return new Scenario(
                read.name() == null ? Path.of(file).getFileName().toString().replaceAll("\\.ya?ml$", "") : read.name(),
                read.about() == null ? "" : read.about().strip(),
                read.source() == null ? "" : read.source(),
                Boolean.TRUE.equals(read.reconstruction()),
                points,
                seeds,
                claims(read.claims(), dimensions),
                metrics(read.show()));
    }

    private List<Map.Entry<String, JsonNode>> fields(JsonNode node, String path) throws ScenarioException {
        if (!node.isObject()) {
            throw fault(path, "paths with values are expected");
        }
        return List.copyOf(node.properties());
    }

    private Dimension dimension(String path, JsonNode values) throws ScenarioException {
        Map<String, JsonNode> named = new LinkedHashMap<>();
        if (values.isArray()) {
            for (JsonNode value : values) {
                named.put(value.isValueNode() ? value.asText() : value.toString(), value);
            }
        } else if (values.isObject()) {
            values.properties().forEach(entry -> named.put(entry.getKey(), entry.getValue()));
        }
        if (named.isEmpty()) {
            throw fault("sweep." + path, "a list of values, or values with names, are expected");
        }
        return new Dimension(path, path.substring(path.lastIndexOf('.') + 1), named);
    }

    /** The quick variant replaces a value, or those that a sweep has. */
    private void shrink(ObjectNode base, List<Dimension> dimensions, String path, JsonNode value)
            throws ScenarioException {
        for (int d = 0; d < dimensions.size(); d++) {
            Dimension dimension = dimensions.get(d);
            if (dimension.path().equals(path) && value.isArray()) {
                Map<String, JsonNode> kept = new LinkedHashMap<>();
                for (JsonNode name : value) {
                    JsonNode known = dimension.values().get(name.asText());
                    kept.put(name.asText(), known == null ? name : known);
                }
                dimensions.set(d, new Dimension(path, dimension.name(), kept));
                return;
            }
        }
        set(base, path, value, "small." + path);
    }

    private void set(ObjectNode root, String path, JsonNode value, String place) throws ScenarioException {
        String[] steps = path.split("\\.", -1);
        JsonNode at = root;
        for (int s = 0; s < steps.length - 1; s++) {
            JsonNode next = at.isArray() ? at.get(index(steps[s], at, place)) : at.get(steps[s]);
            if (next == null && at instanceof ObjectNode object) {
                next = object.putObject(steps[s]);
            }
            if (next == null || !next.isContainerNode()) {
                throw fault(place, "there is nothing at \"%s\"".formatted(steps[s]));
            }
            at = next;
        }
        String last = steps[steps.length - 1];
        switch (at) {
            case ArrayNode array -> array.set(index(last, at, place), value.deepCopy());
            case ObjectNode object -> object.set(last, value.deepCopy());
            default -> throw fault(place, "there is nothing at \"%s\"".formatted(last));
        }
    }

    private int index(String step, JsonNode array, String place) throws ScenarioException {
        if (step.matches("\\d{1,6}") && Integer.parseInt(step) < array.size()) {
            return Integer.parseInt(step);
        }
        throw fault(place, "\"%s\" is no number from 0 to %d".formatted(step, array.size() - 1));
    }

    private List<Point> points(ObjectNode base, List<Dimension> dimensions) throws ScenarioException {
        long count = 1;
        for (Dimension dimension : dimensions) {
            count = Math.multiplyExact(count, (long) dimension.values().size());
            if (count > MOST_POINTS) {
                throw fault("sweep", "these are more than %d points".formatted(MOST_POINTS));
            }
        }
        List<Point> points = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            ObjectNode copy = base.deepCopy();
            Map<String, String> labels = new LinkedHashMap<>();
            int rest = number;
            int all = (int) count;
            for (Dimension dimension : dimensions) {
                all /= dimension.values().size();
                List<String> names = List.copyOf(dimension.values().keySet());
                String name = names.get(rest / all);
                rest %= all;
                labels.put(dimension.name(), name);
                set(
                        copy,
                        dimension.path(),
                        Optional.ofNullable(dimension.values().get(name)).orElseThrow(),
                        "sweep." + dimension.path());
            }
            points.add(new Point(labels, setting(copy, dimensions, labels)));
        }
        return points;
    }

    /** A log is read once, whatever the sweep varies. */
    private ArrivalLog log(ReplaySpec spec) throws ScenarioException {
        String name = String.valueOf(spec.file());
        ReplaySpec file = new ReplaySpec(
                name, spec.format(), spec.time(), spec.client(), spec.prefixLength(), spec.prefixLength6(), null);
        ArrivalLog known = logs.get(file);
        if (known == null) {
            known = ArrivalLogReader.read(Path.of(this.file).resolveSibling(name), file);
            logs.put(file, known);
        }
        return known;
    }

    private Setting setting(ObjectNode at, List<Dimension> dimensions, Map<String, String> labels)
            throws ScenarioException {
        ScenarioSpec spec = value(at, ScenarioSpec.class, "");
        try {
            return SettingReader.read(spec, this::log);
        } catch (Refused e) {
            String path = e.path();
            for (Dimension dimension : dimensions) {
                String plain = dimension.path().replaceAll("\\.(\\d+)", "[$1]");
                if (path.equals(plain) || path.startsWith(plain + ".")) {
                    String within = path.substring(plain.length());
                    throw fault(
                            "sweep." + dimension.path(),
                            "%s%s: %s".formatted(labels.get(dimension.name()), within, e.reason()));
                }
            }
            throw fault(path, e.reason());
        }
    }

    private List<Long> seeds(@Nullable Seeds seeds, OptionalInt count) throws ScenarioException {
        long first = seeds == null || seeds.first() == null ? 1 : seeds.first();
        int many = count.orElse(seeds == null || seeds.count() == null ? 1 : seeds.count());
        if (many < 1 || many > MOST_POINTS) {
            throw fault("seeds.count", "%d: must be from 1 to %d".formatted(many, MOST_POINTS));
        }
        return LongStream.range(first, first + many).boxed().toList();
    }

    private List<Metric> metrics(@Nullable List<String> names) throws ScenarioException {
        List<Metric> metrics = new ArrayList<>();
        for (String name : names == null ? List.of("delay", "delayMax", "imbalance") : names) {
            metrics.add(metric(name, "show"));
        }
        return metrics;
    }

    private Metric metric(@Nullable String name, String path) throws ScenarioException {
        for (Metric metric : Metric.values()) {
            if (metric.id().equals(name)) {
                return metric;
            }
        }
        throw fault(
                path,
                "there is no quantity \"%s\"; maybe one of %s"
                        .formatted(
                                name,
                                Arrays.stream(Metric.values()).map(Metric::id).collect(Collectors.joining(", "))));
    }

    private List<Claim> claims(@Nullable List<ClaimSpec> specs, List<Dimension> dimensions) throws ScenarioException {
        List<Claim> claims = new ArrayList<>();
        for (int c = 0; specs != null && c < specs.size(); c++) {
            claims.add(claim(specs.get(c), "claims[%d]".formatted(c), dimensions));
        }
        return claims;
    }

    private Claim claim(ClaimSpec spec, String path, List<Dimension> dimensions) throws ScenarioException {
        if (spec.says() == null) {
            throw fault(path, "says is required: the claim in words");
        }
        Metric metric = metric(spec.metric(), path + ".metric");
        Map<String, String> where = labels(spec.where(), path + ".where", dimensions);
        if (spec.less() != null && spec.than() != null && spec.near() == null) {
            Map<String, String> less = labels(spec.less(), path + ".less", dimensions);
            Map<String, String> than = labels(spec.than(), path + ".than", dimensions);
            if (!less.keySet().equals(than.keySet())) {
                throw fault(path, "less and than must name the same things");
            }
            return new Claim.Less(spec.says(), metric, less, than, spec.times() == null ? 1 : spec.times(), where);
        }
        JsonNode near = spec.near();
        if (near == null || spec.less() != null || spec.than() != null) {
            throw fault(path, "either less and than, or near, are required");
        }
        double within = (spec.withinPercent() == null ? 0 : spec.withinPercent()) / PERCENT;
        Optional<Metric> of = near.isNumber() ? Optional.empty() : Optional.of(metric(near.asText(), path + ".near"));
        return new Claim.Near(spec.says(), metric, of, near.asDouble(), within, where);
    }

    private Map<String, String> labels(@Nullable Map<String, String> labels, String path, List<Dimension> dimensions)
            throws ScenarioException {
        for (Map.Entry<String, String> label :
                labels == null ? List.<Map.Entry<String, String>>of() : labels.entrySet()) {
            if (dimensions.stream().noneMatch(each -> each.name().equals(label.getKey()))) {
                throw fault(
                        path,
                        "the sweep does not vary \"%s\"; maybe one of %s"
                                .formatted(
                                        label.getKey(),
                                        dimensions.stream().map(Dimension::name).collect(Collectors.joining(", "))));
            }
        }
        return labels == null ? Map.of() : labels;
    }

    private <T> T value(JsonNode node, Class<T> type, String path) throws ScenarioException {
        try {
            return JSON.treeToValue(node, type);
        } catch (UnrecognizedPropertyException e) {
            throw fault(
                    path(path, e),
                    "there is no such field; maybe one of %s"
                            .formatted(e.getKnownPropertyIds().stream()
                                    .map(String::valueOf)
                                    .sorted()
                                    .collect(Collectors.joining(", "))));
        } catch (InvalidFormatException e) {
            throw fault(path(path, e), "\"%s\" is no %s".formatted(e.getValue(), kind(e.getTargetType())));
        } catch (JsonMappingException e) {
            throw fault(path(path, e), e.getOriginalMessage().replaceAll("\\s+", " "));
        } catch (JsonProcessingException e) {
            throw fault(path, e.getOriginalMessage().replaceAll("\\s+", " "));
        }
    }

    private static String kind(Class<?> type) {
        if (type.isEnum()) {
            return "value; maybe one of "
                    + Arrays.stream(type.getEnumConstants())
                            .map(String::valueOf)
                            .collect(Collectors.joining(", "));
        }
        if (type == Integer.class || type == Long.class) {
            return "whole number";
        }
        return type == Boolean.class ? "true or false" : "number";
    }

    private static String path(String before, JsonMappingException e) {
        StringBuilder path = new StringBuilder(before);
        for (JsonMappingException.Reference step : e.getPath()) {
            if (step.getFieldName() == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
            }
        }
        return path.toString();
    }

    private ScenarioException fault(String path, String reason) {
        String line = where(path).map(mark -> ":" + place(mark)).orElse("");
        return new ScenarioException(
                "%s%s: %s%s".formatted(file, line, path.isEmpty() ? "" : path + ": ", reason.replaceAll("\\s+", " ")));
    }

    /** Where something stands, or what it would stand in. */
    private Optional<Mark> where(String path) {
        Optional<Node> root = new Compose(YAML).composeString(text);
        Optional<Mark> mark = root.flatMap(Node::getStartMark);
        Node at = root.orElse(null);
        String rest = path.replaceAll("\\[(\\d+)\\]", ".$1");
        while (at != null && !rest.isEmpty()) {
            Step step = step(at, rest);
            if (step == null) {
                break;
            }
            mark = step.mark();
            at = step.to();
            rest = step.rest();
        }
        return mark;
    }

    private record Step(Node to, Optional<Mark> mark, String rest) {}

    private static @Nullable Step step(Node at, String path) {
        if (at instanceof MappingNode mapping) {
            for (NodeTuple tuple : mapping.getValue()) {
                // The paths of a sweep are keys with points in them.
                if (tuple.getKeyNode() instanceof ScalarNode key
                        && (path.equals(key.getValue()) || path.startsWith(key.getValue() + "."))) {
                    return new Step(tuple.getValueNode(), key.getStartMark(), rest(path, key.getValue()));
                }
            }
        }
        String first = path.split("\\.", 2)[0];
        if (at instanceof SequenceNode sequence && first.matches("\\d{1,6}")) {
            int index = Integer.parseInt(first);
            if (index < sequence.getValue().size()) {
                Node to = sequence.getValue().get(index);
                return new Step(to, to.getStartMark(), rest(path, first));
            }
        }
        return null;
    }

    private static String rest(String path, String step) {
        return path.length() > step.length() ? path.substring(step.length() + 1) : "";
    }
}
