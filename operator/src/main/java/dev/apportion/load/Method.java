package dev.apportion.load;

import java.util.Map;

/** How the load of a pool's replicas is measured. */
public sealed interface Method {

    /** Which series tell what. */
    Series series();

    /** The name of its kind, as users write it. */
    default String field() {
        return switch (this) {
            case Scrape asked -> "scrape";
            case PodMetrics asked -> "podMetrics";
            case Prometheus asked -> "prometheus";
        };
    }

    /** Each process is asked for its own metrics. */
    record Scrape(String path, Series series) implements Method {}

    /**
     * The metrics API of Kubernetes is asked for all pods of a namespace.
     *
     * @param resource {@code cpu} or {@code memory}
     */
    record PodMetrics(String namespace, String resource) implements Method {

        private static final Series NONE = new Series(Map.of());

        @Override
        public Series series() {
            return NONE;
        }
    }

    /**
     * A Prometheus server is asked for all pods of a namespace.
     *
     * @param source the name that the administrator gave it
     */
    record Prometheus(String source, String namespace, Series series) implements Method {}
}
