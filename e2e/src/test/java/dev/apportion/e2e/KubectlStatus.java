package dev.apportion.e2e;

import dev.apportion.e2e.bed.Kubectl;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a user reads of a status.
 *
 * @param kubectl with the namespace of what is read
 */
record KubectlStatus(Kubectl kubectl) {

    /** A condition, as {@code True Reason: message}; empty while there is none. */
    String condition(String resource, String type) {
        return get(
                resource,
                "{range .status.conditions[?(@.type==\"%s\")]}{.status} {.reason}: {.message}{end}".formatted(type));
    }

    /** The published weights of a stream or service, by address. */
    Map<String, Long> weights(String resource) {
        Map<String, Long> weights = new TreeMap<>();
        get(resource, "{range .status.answers[*]}{.address} {.weight}{\"\\n\"}{end}")
                .lines()
                .filter(line -> !line.isBlank())
                .forEach(line -> {
                    List<String> parts = List.of(line.split(" "));
                    // The text of an address as the test bed writes it, too.
                    weights.put(
                            InetAddress.ofLiteral(parts.getFirst()).getHostAddress(), Long.parseLong(parts.getLast()));
                });
        return weights;
    }

    private String get(String resource, String path) {
        return kubectl.run("get", resource, "-o", "jsonpath=" + path)
                .orThrow()
                .stdout()
                .strip();
    }
}
