package dev.apportion.simulation;

import java.util.List;
import java.util.Map;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.distribution.AliasMethodDiscreteSampler;
import org.apache.commons.rng.sampling.distribution.SharedStateDiscreteSampler;

/** What decides where a request goes. */
interface Router {

    /** The server; -1 for none. */
    int route(double time, int population, int resolver);

    /** Does what is due, and says when something is due again. */
    default double due(double time) {
        return Double.POSITIVE_INFINITY;
    }

    default void measure(Map<Metric, Double> values) {}

    /** One server after the other. */
    final class Turns implements Router {
        private final int servers;
        private int last = -1;

        Turns(int servers) {
            this.servers = servers;
        }

        @Override
        public int route(double time, int from, int resolver) {
            last = last + 1 < servers ? last + 1 : 0;
            return last;
        }
    }

    /** Drawn by capacity. */
    final class Draws implements Router {
        private final SharedStateDiscreteSampler server;

        Draws(List<Server> servers, Chance chance) {
            server = AliasMethodDiscreteSampler.of(
                    (UniformRandomProvider) chance.answers()::nextLong,
                    servers.stream().mapToDouble(each -> each.capacity(1)).toArray());
        }

        @Override
        public int route(double time, int from, int resolver) {
            return server.sample();
        }
    }
}
