package dev.apportion.simulation;

import java.util.Arrays;
import java.util.Map;

/** What servers get in their first seconds. */
final class Newcomers {
    private final Tally tally;
    private final double[] came;
    private final boolean any;
    private long all;
    private long chosen;
    private int last = -1;
    private long inARow;
    private long longest;

    Newcomers(Setting setting, Tally tally) {
        this.tally = tally;
        came = setting.servers().stream()
                .mapToDouble(server -> server.absence().map(Server.Absence::to).orElse(Double.POSITIVE_INFINITY))
                .toArray();
        any = Arrays.stream(came).anyMatch(time -> time < setting.seconds());
        if (any) {
            tally.newcomers(came, setting.newFor());
        }
    }

    void chosen(int server, double time) {
        if (!any || server < 0) {
            return;
        }
        inARow = server == last ? inARow + 1 : 1;
        last = server;
        boolean isNew = tally.isNew(server, time);
        boolean someNew = isNew;
        for (int i = 0; i < came.length && !someNew; i++) {
            someNew = tally.isNew(i, time);
        }
        all += someNew ? 1 : 0;
        if (isNew) {
            chosen++;
            longest = Math.max(longest, inARow);
        }
    }

    void measure(Map<Metric, Double> values) {
        if (any) {
            values.put(Metric.NEWCOMER_SHARE, all == 0 ? Double.NaN : (double) chosen / all);
            values.put(Metric.NEWCOMER_RUN, (double) longest);
            values.put(Metric.NEWCOMER_DELAY, tally.newServed == 0 ? Double.NaN : tally.newDelaySum / tally.newServed);
        }
    }
}
