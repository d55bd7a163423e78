package dev.apportion.simulation;

import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Sample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** DNS decides: a policy gives answers, resolvers keep them, and now and then loads are measured and it is asked anew. */
final class DnsRouter implements Router {
    /** The time between two samples of the load average, in seconds, and the time over which it is averaged (Linux). */
    private static final double SAMPLE = 5;

    private static final double LOAD_AVERAGE = 60;

    private final Setting setting;
    private final Dispatch.Dns dns;
    private final Station[] stations;
    private final Answering answering;
    private final Resolving resolving;
    private final double[] loadAverage;
    private final long[] routed;
    private double nextSample;
    private double nextPlan;
    private double nextChange;

    DnsRouter(Setting setting, Dispatch.Dns dns, Station[] stations, Chance chance) {
        this.setting = setting;
        this.stations = stations;
        loadAverage = new double[stations.length];
        routed = new long[stations.length];
        this.dns = dns;
        answering = new Answering(setting, dns);
        resolving = new Resolving(setting, dns, answering, chance.answers());
        nextSample = dns.replan().isPresent() ? SAMPLE : Double.POSITIVE_INFINITY;
        nextPlan = dns.replan().orElse(Double.POSITIVE_INFINITY);
        nextChange = setting.nextChange(0, dns.detect());
        plan(0, Occasion.INTENT);
    }

    private void plan(double time, Occasion occasion) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < stations.length; i++) {
            samples.add(time > 0 && dns.replan().isPresent() ? sample(i) : Sample.NONE);
        }
        double seen = Math.max(0, time - dns.detect());
        answering.plan(IntStream.of(setting.present(seen)).boxed().toList(), samples, occasion);
    }

    /** Each request is a user of its own; its connection lasts until it is served. */
    private Sample sample(int i) {
        double present = stations[i].present();
        OptionalDouble known = OptionalDouble.of(present);
        return new Sample(
                OptionalDouble.of(routed[i] / dns.replan().orElse(1)),
                known,
                known,
                known,
                known,
                OptionalDouble.of(loadAverage[i]));
    }

    @Override
    public int route(double time, int from, int resolver) {
        int server = resolving.ask(time, resolver);
        if (server >= 0) {
            routed[server]++;
        }
        return server;
    }

    @Override
    public double due(double time) {
        if (time >= nextSample) {
            double keep = Math.exp(-SAMPLE / LOAD_AVERAGE);
            for (int i = 0; i < stations.length; i++) {
                stations[i].advance(time);
                double perSlot = (double) stations[i].present()
                        / setting.servers().get(i).slots();
                loadAverage[i] = keep * loadAverage[i] + (1 - keep) * perSlot;
            }
            nextSample += SAMPLE;
        }
        if (time >= nextChange) {
            plan(time, Occasion.INTENT);
            leave(time);
            nextChange = setting.nextChange(time, dns.detect());
        }
        if (time >= nextPlan) {
            plan(time, Occasion.DRIFT);
            Arrays.fill(routed, 0);
            nextPlan += dns.replan().orElse(Double.POSITIVE_INFINITY);
        }
        return Math.min(nextSample, Math.min(nextPlan, nextChange));
    }

    private void leave(double time) {
        double seen = Math.max(0, time - dns.detect());
        for (int i = 0; i < stations.length; i++) {
            Optional<Server.Absence> absence = setting.servers().get(i).absence();
            if (absence.isPresent() && absence.get().covers(seen)) {
                resolving.gone(i);
            }
        }
    }

    @Override
    public void measure(Map<Metric, Double> values) {
        values.put(Metric.MAKESPAN, answering.makespan);
        values.put(Metric.GAP, answering.gap);
        values.put(Metric.COPIES, answering.copies);
        values.put(Metric.MOVED, answering.moved);
        values.put(Metric.CACHED, resolving.asked == 0 ? Double.NaN : (double) resolving.cached / resolving.asked);
    }
}
