package dev.apportion.simulation;

import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;

/** How requests come: how the rate of all changes with time, while on the mean it stays what the populations say. */
public sealed interface Rhythm {

    /**
     * Begins the arrivals of one run.
     *
     * @param rate requests/s on the mean
     */
    Arrivals begin(double rate, RandomGenerator random);

    /** The times of arrivals, one after the other. */
    @FunctionalInterface
    interface Arrivals {

        /** The first arrival after a time; times are asked for in their order. */
        double after(double time);

        /** Whose request that was; drawn by rate, unless the arrivals say it. */
        default int population(IntSupplier drawn) {
            return drawn.getAsInt();
        }
    }

    /** A Poisson process of one rate. */
    record Steady() implements Rhythm {
        @Override
        public Arrivals begin(double rate, RandomGenerator random) {
            double mean = 1 / rate;
            return time -> time + mean * random.nextExponential();
        }
    }

    /**
     * A Poisson process whose rate goes up and down, as by day and night.
     *
     * @param period from one peak to the next, in seconds; greater than zero
     * @param part by which part of itself the rate is higher at its peak, and lower half a period later; 0 to 1
     */
    record Diurnal(double period, double part) implements Rhythm {
        @Override
        public Arrivals begin(double rate, RandomGenerator random) {
            // Lewis and Shedler, 1979: of arrivals at the highest rate some are left out.
            double mean = 1 / (rate * (1 + part));
            return time -> {
                double next = time;
                do {
                    next += mean * random.nextExponential();
                } while (random.nextDouble() * (1 + part) > 1 + part * Math.sin(2 * Math.PI * next / period));
                return next;
            };
        }
    }

    /**
     * A Poisson process with two rates, of which one follows the other after times without memory (MMPP).
     *
     * @param times how much the rate is above the mean in a burst; at least 1, at most (on + off)/on
     * @param on the mean length of a burst, in seconds; greater than zero
     * @param off the mean time between two bursts, in seconds; greater than zero
     */
    record Bursts(double times, double on, double off) implements Rhythm {

        /** The rate between bursts, as a part of the mean. */
        double calm() {
            double bursting = on / (on + off);
            return Math.max(0, (1 - bursting * times) / (1 - bursting));
        }

        @Override
        public Arrivals begin(double rate, RandomGenerator random) {
            return new Arrivals() {
                private boolean burst = random.nextDouble() < on / (on + off);
                private double until = (burst ? on : off) * random.nextExponential();

                @Override
                public double after(double time) {
                    double from = time;
                    while (true) {
                        double now = rate * (burst ? times : calm());
                        double next = now > 0 ? from + random.nextExponential() / now : Double.POSITIVE_INFINITY;
                        if (next < until) {
                            return next;
                        }
                        // What would have come later comes anew at the other rate: the process has no memory.
                        from = until;
                        burst = !burst;
                        until += (burst ? on : off) * random.nextExponential();
                    }
                }
            };
        }
    }

    /**
     * The requests of a log again, at its times and of its populations; nothing of it is chance. None comes after its end.
     *
     * @param speedup how many times as fast it is played; greater than zero
     */
    record Replay(ArrivalLog log, double speedup) implements Rhythm {
        @Override
        public Arrivals begin(double rate, RandomGenerator random) {
            return new Arrivals() {
                private int request = -1;

                @Override
                public double after(double time) {
                    request++;
                    return request < log.requests() ? log.time(request) / speedup : Double.POSITIVE_INFINITY;
                }

                @Override
                public int population(IntSupplier drawn) {
                    return log.population(request);
                }
            };
        }
    }
}
