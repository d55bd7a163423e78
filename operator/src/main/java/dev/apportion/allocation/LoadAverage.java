package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Shares in inverse proportion to the load average, whatever the capacities: a replica with half the load average gets twice
 * the share. A stream with fewer than all its eligible replicas uses those with the lowest load averages.
 *
 * <p>A load average below 0.1 counts as 0.1. A replica whose load average is not known counts as the mean of the others.
 *
 * <p>Source: dlbDNS, whose algorithm of this name answers with the server of the lowest load average; shares instead of one
 * server are ours.
 */
public record LoadAverage() implements Policy {

    /** What an idle machine's own work amounts to: lower load averages are not told apart. */
    private static final double IDLE = 0.1;

    /** Load averages beyond this are taken for this, so that sums stay finite. */
    private static final double MOST = 1e100;

    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        double[] load = new double[in.m];
        double sum = 0;
        int known = 0;
        for (int i = 0; i < in.m; i++) {
            OptionalDouble measured = in.replica(i).measured().loadAverage();
            if (measured.isPresent()) {
                load[i] = Math.clamp(measured.getAsDouble(), IDLE, MOST);
                known++;
                sum += load[i];
            }
        }
        double mean = known > 0 ? sum / known : IDLE;
        for (int i = 0; i < in.m; i++) {
            load[i] = load[i] > 0 ? load[i] : mean;
        }
        List<List<Piece>> pieces = new ScoreSpread(in, load, score -> 1 / score, 0, in.m).pieces();
        boolean any = known > 0;
        return in.allocation(pieces::get, measure.level(), measure.bound())
                .because(in.inOrderOfProblem(
                        i -> because(in.replica(i).measured().loadAverage(), any, mean)));
    }

    private static String because(OptionalDouble measured, boolean any, double mean) {
        if (!any) {
            return "no load average was measured of any replica";
        }
        if (measured.isEmpty()) {
            return "load average not measured: counts as the mean, %s".formatted(Rounded.text(mean));
        }
        String text = "load average " + Rounded.text(measured.getAsDouble());
        return measured.getAsDouble() < IDLE ? text + ", counts as " + Rounded.text(IDLE) : text;
    }
}
