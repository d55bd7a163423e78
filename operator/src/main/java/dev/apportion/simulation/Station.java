package dev.apportion.simulation;

import java.util.Arrays;

/**
 * A server at work. Requests come to it in the order of time; what happens between two of them is computed when the next one
 * comes, so that no event needs to be scheduled for the end of a service.
 */
sealed interface Station {

    /**
     * A request comes.
     *
     * @param time when, in seconds; not before any earlier one
     * @param extra what the network adds to its delay, in seconds
     */
    void arrive(double time, double size, double extra);

    /** Whatever ends until then has ended. */
    void advance(double time);

    /** The requests that are there, waiting or being served, at the time that it was advanced to. */
    int present();

    /** A station of a server. */
    static Station of(Server server, int index, Tally tally, boolean counting) {
        return switch (server.discipline()) {
            case FIFO -> new Fifo(server, index, tally, counting);
            case SHARING -> new Sharing(server, index, tally);
        };
    }

    /** Slots that are free from a time on: the next request takes the earliest (Kiefer and Wolfowitz). */
    final class Fifo implements Station {

        private final Server server;
        private final int index;
        private final Tally tally;
        private final boolean counting;
        private final boolean steady;
        private final double from;
        private final double to;
        private final MinHeap free = new MinHeap();
        private final MinHeap ends = new MinHeap();

        Fifo(Server server, int index, Tally tally, boolean counting) {
            this.server = server;
            this.index = index;
            this.tally = tally;
            this.counting = counting;
            steady = server.slowStart().isEmpty();
            from = server.absence().map(Server.Absence::from).orElse(Double.POSITIVE_INFINITY);
            to = server.absence().map(Server.Absence::to).orElse(Double.POSITIVE_INFINITY);
            for (int i = 0; i < server.slots(); i++) {
                free.add(0, 0);
            }
        }

        @Override
        public void arrive(double time, double size, double extra) {
            double start = Math.max(time, free.key());
            if (time < to && start >= from) {
                // It is not there, or will have gone before the request's turn comes.
                tally.lost(time);
                return;
            }
            double speed = steady ? server.speed() : server.speedAt(start);
            double end = start + size / speed;
            if (start < from && end > from) {
                tally.lost(time);
                free.replace(to, 0);
                return;
            }
            free.replace(end, 0);
            if (counting) {
                ends.add(end, 0);
            }
            tally.served(index, time, end - time + extra, start - time, size / server.speed());
        }

        @Override
        public void advance(double time) {
            while (ends.size() > 0 && ends.key() <= time) {
                ends.remove();
            }
        }

        @Override
        public int present() {
            return ends.size();
        }
    }

    /**
     * Requests that share all slots. Each of n requests gets min(1, slots/n) of a slot's speed; what each has got since the
     * server was idle is the virtual time, and a request ends when it has grown by the request's size.
     */
    final class Sharing implements Station {

        /** The steps in which the speed of a server grows that has just come. */
        private static final double STEP = 0.1;

        private static final int SPACE = 16;

        private final Server server;
        private final int index;
        private final Tally tally;
        private final boolean steady;
        private final double from;
        private final double to;
        private final double settled;
        private final MinHeap jobs = new MinHeap();
        private double clock;
        private double virtual;
        private double[] arrived = new double[SPACE];
        private double[] extras = new double[SPACE];
        private double[] sizes = new double[SPACE];
        private int[] unused = new int[SPACE];
        private int unusedCount;
        private int known;

        Sharing(Server server, int index, Tally tally) {
            this.server = server;
            this.index = index;
            this.tally = tally;
            from = server.absence().map(Server.Absence::from).orElse(Double.POSITIVE_INFINITY);
            to = server.absence().map(Server.Absence::to).orElse(Double.POSITIVE_INFINITY);
            steady = server.slowStart().isEmpty() || Double.isInfinite(to);
            settled = to + server.slowStart().map(Server.SlowStart::seconds).orElse(0.0);
        }

        @Override
        public void arrive(double time, double size, double extra) {
            advance(time);
            if (from <= time && time < to) {
                tally.lost(time);
                return;
            }
            int job = unusedCount > 0 ? unused[--unusedCount] : next();
            arrived[job] = time;
            extras[job] = extra;
            sizes[job] = size;
            jobs.add(virtual + size, job);
        }

        private int next() {
            if (known == arrived.length) {
                arrived = Arrays.copyOf(arrived, 2 * known);
                extras = Arrays.copyOf(extras, 2 * known);
                sizes = Arrays.copyOf(sizes, 2 * known);
                unused = Arrays.copyOf(unused, 2 * known);
            }
            return known++;
        }

        @Override
        public void advance(double time) {
            if (clock < from && time >= from) {
                run(from);
                loseAll();
            }
            if (!steady) {
                run(Math.min(time, to));
                while (clock < time && clock < settled) {
                    run(Math.min(time, clock + STEP));
                }
            }
            run(time);
        }

        private void loseAll() {
            while (jobs.size() > 0) {
                int job = (int) jobs.value();
                tally.lost(arrived[job]);
                jobs.remove();
                unused[unusedCount++] = job;
            }
        }

        /** Serves at the speed of now. */
        private void run(double until) {
            if (until <= clock) {
                return;
            }
            double speed = steady ? server.speed() : server.speedAt(clock);
            int slots = server.slots();
            while (jobs.size() > 0) {
                int n = jobs.size();
                double each = n <= slots ? speed : speed * slots / n;
                double end = clock + (jobs.key() - virtual) / each;
                if (end > until) {
                    virtual += (until - clock) * each;
                    break;
                }
                clock = Math.max(clock, end);
                virtual = jobs.key();
                int job = (int) jobs.value();
                jobs.remove();
                unused[unusedCount++] = job;
                double work = sizes[job] / server.speed();
                tally.served(index, arrived[job], clock - arrived[job] + extras[job], Double.NaN, work);
            }
            if (jobs.size() == 0) {
                virtual = 0;
            }
            clock = until;
        }

        @Override
        public int present() {
            return jobs.size();
        }
    }
}
