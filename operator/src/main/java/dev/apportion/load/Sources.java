package dev.apportion.load;

import java.util.Collection;
import java.util.function.BiConsumer;

/** The sources of every method, as one. */
public record Sources(Source scrape, Source podMetrics, Source prometheus) implements Source {

    @Override
    public void read(Method method, Collection<Target> targets, BiConsumer<Target, Readout> found)
            throws InterruptedException {
        Source source = switch (method) {
            case Method.Scrape asked -> scrape;
            case Method.PodMetrics asked -> podMetrics;
            case Method.Prometheus asked -> prometheus;
        };
        source.read(method, targets, found);
    }
}
