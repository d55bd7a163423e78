package dev.apportion.simulation;

import java.util.Optional;

/**
 * A server of requests.
 *
 * @param name its unique name
 * @param site the site that it belongs to
 * @param speed the size of requests that one slot serves in a second; greater than zero
 * @param slots the requests that are served at full speed at once; at least one
 * @param discipline what happens to requests beyond that
 * @param absence when it is not there; empty if it always is
 * @param slowStart how it gets up to speed once it is there; empty if at once
 */
public record Server(
        String name,
        String site,
        double speed,
        int slots,
        Discipline discipline,
        Optional<Absence> absence,
        Optional<SlowStart> slowStart) {

    /** A server that is always there. */
    public Server(String name, String site, double speed, int slots, Discipline discipline) {
        this(name, site, speed, slots, discipline, Optional.empty(), Optional.empty());
    }

    /** What happens when more requests are there than slots. */
    public enum Discipline {
        /** They wait, first come, first served. */
        FIFO,
        /** All are served, each at its part of the speed of all slots. */
        SHARING
    }

    /**
     * A time in which a server is not there: requests that it has then are lost, and so are those that are sent to it.
     *
     * @param from its begin, in seconds; zero for a server that comes later
     * @param to its end, in seconds; infinite for a server that does not come back
     */
    public record Absence(double from, double to) {

        boolean covers(double time) {
            return from <= time && time < to;
        }
    }

    /**
     * The speed of a server that has just come: it grows in a straight line.
     *
     * @param seconds until it has its full speed; greater than zero
     * @param part the part of its speed that it begins with; greater than zero, at most one
     */
    public record SlowStart(double seconds, double part) {}

    /** The requests/s that it bears, of a mean size. */
    public double capacity(double meanSize) {
        return speed * slots / meanSize;
    }

    double speedAt(double time) {
        if (slowStart.isEmpty() || absence.isEmpty()) {
            return speed;
        }
        SlowStart start = slowStart.get();
        double since = time - absence.get().to();
        return since < 0 || since >= start.seconds()
                ? speed
                : speed * (start.part() + (1 - start.part()) * since / start.seconds());
    }
}
