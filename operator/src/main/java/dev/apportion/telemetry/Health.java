package dev.apportion.telemetry;

import java.util.List;

/**
 * Whether a process is well.
 *
 * @param alive false when only a restart can help
 * @param ready false when it cannot do its work now
 * @param problems what is not well, for people
 */
public record Health(boolean alive, boolean ready, List<String> problems) {

    public Health {
        problems = List.copyOf(problems);
    }

    /** What probes are answered. */
    String text() {
        return problems.isEmpty() ? "ok\n" : String.join("\n", problems) + "\n";
    }
}
