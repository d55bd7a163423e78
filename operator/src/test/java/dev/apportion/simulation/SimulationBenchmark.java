package dev.apportion.simulation;

import dev.apportion.allocation.KSplittable.Split;
import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Sample;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import umontreal.ssj.randvar.ExponentialGen;
import umontreal.ssj.rng.LFSR113;
import umontreal.ssj.rng.MRG32k3a;
import umontreal.ssj.rng.RandomStream;
import umontreal.ssj.simevents.Event;
import umontreal.ssj.simevents.Simulator;
import umontreal.ssj.simevents.eventlist.BinaryTree;
import umontreal.ssj.simevents.eventlist.DoublyLinked;
import umontreal.ssj.simevents.eventlist.EventList;
import umontreal.ssj.simevents.eventlist.Henriksen;
import umontreal.ssj.simevents.eventlist.RedblackTree;
import umontreal.ssj.simevents.eventlist.SplayTree;

/**
 * Prints how many requests of the k-splittable experiment are simulated in a second of one processor, beside the same model
 * on the events of SSJ, in the same run: an arrival for each population and an end of service for each server, in each of
 * its event lists and with its faster generators. Resolvers and answers are the same code in both, so that what differs is
 * the events and the random numbers.
 *
 * <p>Not a test by its name, so it runs when it is asked for.
 */
final class SimulationBenchmark {

    private static final double SECONDS = 5_000;
    private static final int ROUNDS = 5;

    @Test
    void besideSsj() {
        Setting setting = Settings.kSplittable(Split.OPTIMAL, 2, 0.7, SECONDS);
        for (int round = 0; round < ROUNDS; round++) {
            double own = perSecond("own", () -> {
                Outcome outcome = Replication.run(setting, 1, () -> false).orElseThrow();
                return new double[] {value(outcome, Metric.REQUESTS) / 0.95, value(outcome, Metric.DELAY)};
            });
            double best = 0;
            for (Supplier<EventList> list : List.<Supplier<EventList>>of(
                    SplayTree::new, BinaryTree::new, Henriksen::new, RedblackTree::new, DoublyLinked::new)) {
                String name = list.get().getClass().getSimpleName();
                best = Math.max(
                        best,
                        perSecond(
                                "SSJ " + name,
                                () -> new OnSsj(setting, list.get(), new LFSR113(), new LFSR113()).run()));
            }
            best = Math.max(
                    best,
                    perSecond(
                            "SSJ SplayTree, MRG32k3a",
                            () -> new OnSsj(setting, new SplayTree(), new MRG32k3a(), new MRG32k3a()).run()));
            System.out.printf(Locale.ROOT, "own / best of SSJ: %.1f%n", own / best);
        }
    }

    private static double value(Outcome outcome, Metric metric) {
        return outcome.values().getOrDefault(metric, Double.NaN);
    }

    private static double perSecond(String name, Supplier<double[]> run) {
        long begin = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        double[] result = run.get();
        double rate = result[0] / (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begin) * 1e9;
        System.out.printf(
                Locale.ROOT, "%-26s %6.2f million requests/s, mean delay %.3f ms%n", name, rate / 1e6, result[1] * 1e3);
        return rate;
    }

    /** The model as one writes it with SSJ; events are used again. */
    private static final class OnSsj {
        private final Setting setting;
        private final Simulator simulator = new Simulator();
        private final Resolving resolving;
        private final Chance chance = Chance.of(1);
        private final RandomStream arrivals;
        private final RandomStream sizes;
        private final Tally tally;
        private double requests;

        OnSsj(Setting setting, EventList list, RandomStream arrivals, RandomStream sizes) {
            this.setting = setting;
            this.arrivals = arrivals;
            this.sizes = sizes;
            simulator.init(list);
            Dispatch.Dns dns = (Dispatch.Dns) setting.dispatch();
            Answering answering = new Answering(setting, dns);
            answering.plan(
                    IntStream.range(0, setting.servers().size()).boxed().toList(),
                    Collections.nCopies(setting.servers().size(), Sample.NONE),
                    Occasion.INTENT);
            resolving = new Resolving(setting, dns, answering, chance.answers());
            tally = new Tally(setting.servers().size(), setting.warmUp());
        }

        double[] run() {
            Service[] services = new Service[setting.servers().size()];
            for (int i = 0; i < services.length; i++) {
                services[i] = new Service(i);
            }
            for (int p = 0; p < setting.populations().size(); p++) {
                Population population = setting.populations().get(p);
                new Arrival(p, population.rate(), services)
                        .schedule(ExponentialGen.nextDouble(arrivals, population.rate()));
            }
            new Event(simulator) {
                @Override
                public void actions() {
                    simulator.stop();
                }
            }.schedule(setting.seconds());
            simulator.start();
            return new double[] {requests, tally.mean()};
        }

        private final class Arrival extends Event {
            private final int population;
            private final double rate;
            private final Service[] services;

            Arrival(int population, double rate, Service[] services) {
                super(OnSsj.this.simulator);
                this.population = population;
                this.rate = rate;
                this.services = services;
            }

            @Override
            public void actions() {
                schedule(ExponentialGen.nextDouble(arrivals, rate));
                requests++;
                int each = setting.resolvers().perPopulation();
                int resolver = population * each + arrivals.nextInt(0, each - 1);
                services[resolving.ask(simulator.time(), resolver)].arrive();
            }
        }

        private final class Service extends Event {
            private final int server;
            private final Deque<Double> queue = new ArrayDeque<>();

            Service(int server) {
                super(OnSsj.this.simulator);
                this.server = server;
            }

            void arrive() {
                queue.add(simulator.time());
                if (queue.size() == 1) {
                    schedule(ExponentialGen.nextDouble(sizes, 1 / setting.size().mean()));
                }
            }

            @Override
            public void actions() {
                double arrived = queue.remove();
                double delay = simulator.time() - arrived + 0.02;
                tally.served(server, arrived, delay, 0, 0);
                if (!queue.isEmpty()) {
                    schedule(ExponentialGen.nextDouble(sizes, 1 / setting.size().mean()));
                }
            }
        }
    }
}
