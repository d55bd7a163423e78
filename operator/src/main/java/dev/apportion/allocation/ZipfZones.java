package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * As few copies of keys as balance allows: every stream is a key, frequent keys are served by all replicas, rare ones by one
 * that a hash of their name chooses. Source: Yamashita et al., IEICE IN2012-177 (2013).
 *
 * @param zones how copies depend on frequency
 * @param maxVariationPercent the accepted coefficient of variation of the replicas' loads, in percent; greater than zero
 * @param bytesPerKey the memory that one key takes on a replica, in bytes
 */
public record ZipfZones(Zones zones, double maxVariationPercent, long bytesPerKey) implements Policy {

    /** How copies depend on frequency. */
    public enum Zones {
        /** Hot keys on all replicas, normal ones on a few, cold ones on one. */
        Three,
        /** In proportion to frequency, from one to all. */
        Continuous
    }

    private static final double PERCENT = 100;

    /**
     * The part of the accepted variation by which placed keys may exceed the level of a replica: the loads below the level vary
     * too, and a bound that is too tight turns away keys that would then move with every change.
     */
    private static final double BOUND = 0.5;

    /*
     * The algorithm. How many copies each key gets follows from the rates alone (KeyZones). Where they are: a key on all its
     * replicas is shared out by capacity. The others, by descending rate, each walk a hash ring from the point of their name
     * and take the replicas that they meet, but for those that they would load too far above their
     * level: consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, SODA 2018). So that a replica that
     * comes or goes moves few keys, and no replica is overloaded by bad luck.
     *
     * Of streams without a rate nothing is known; they are shared out by capacity.
     */

    @Override
    public Aim aim() {
        return Aim.AS_IS;
    }

    @Override
    public Allocation allocate(Problem problem) {
        Instance in = new Instance(problem);
        Splitting measure = Splitting.of(in);
        Placement placement = new Placement(in, measure.level());
        placement.place();
        return in.allocation(placement.pieces::get, measure.level(), measure.bound())
                .because(placement.reasons());
    }

    private KeyZones cut(KeyZones.Keys keys) {
        return switch (zones) {
            case Three -> KeyZones.three(keys, maxVariationPercent / PERCENT);
            case Continuous -> KeyZones.continuous(keys, maxVariationPercent / PERCENT);
        };
    }

    /** Puts keys on replicas. */
    private final class Placement {

        /** The points of the ring that a key visits at most, and for each of its copies. */
        private static final int VISITS = 4096;

        private static final int VISITS_PER_COPY = 16;

        final Instance in;
        final List<List<Piece>> pieces;
        private final double[] level;
        private final double[] load;
        private final Ring[] rings;
        private final List<List<Piece>> allOfClass;
        private final int[] seenBy;
        private final int[] hot;
        private final int[] normal;
        private final int[] cold;

        /** A hash ring with the replicas of one class. */
        private static final class Ring {
            final HashRing points;
            final int[] replicas;

            Ring(HashRing points, int[] replicas) {
                this.points = points;
                this.replicas = replicas;
            }
        }

        Placement(Instance in, double[] level) {
            this.in = in;
            this.level = level;
            pieces = new ArrayList<>(Collections.nCopies(in.n, List.of()));
            load = new double[in.m];
            rings = new Ring[in.eligibility.classCount()];
            allOfClass = new ArrayList<>(Collections.nCopies(rings.length, List.of()));
            seenBy = new int[in.m];
            Arrays.fill(seenBy, -1);
            hot = new int[in.m];
            normal = new int[in.m];
            cold = new int[in.m];
        }

        void place() {
            int[] rated = served(0, in.rated);
            int[] copies = cut(keys(rated)).copies;
            double bound = 1 + BOUND * maxVariationPercent / PERCENT;
            // What is on all replicas first, so that the others find the loads that it leaves.
            for (int r = 0; r < rated.length; r++) {
                if (copies[r] == in.eligibility.eligible(in.streamClass[rated[r]])) {
                    onAll(rated[r]);
                }
            }
            double[] most = new double[in.m];
            Arrays.setAll(most, i -> bound * level[i]);
            for (int r = 0; r < rated.length; r++) {
                if (pieces.get(rated[r]).isEmpty()) {
                    onSome(rated[r], copies[r], most);
                }
            }
            List<List<Piece>> byCapacity = RotatingSpread.unrated(in, load);
            for (int stream : served(in.rated, in.n)) {
                pieces.set(stream, byCapacity.get(stream));
                count(stream, in.limit[stream]);
            }
        }

        /** The streams of a range that some replica may serve. */
        private int[] served(int from, int to) {
            int[] served = new int[to - from];
            int count = 0;
            for (int j = from; j < to; j++) {
                if (in.limit[j] > 0) {
                    served[count++] = j;
                }
            }
            return Arrays.copyOf(served, count);
        }

        private KeyZones.Keys keys(int[] streams) {
            double sum = 0;
            for (int r = streams.length - 1; r >= 0; r--) {
                sum += in.rate[streams[r]];
            }
            double[] parts = new double[streams.length];
            int[] eligible = new int[streams.length];
            int[] limit = new int[streams.length];
            for (int r = 0; r < streams.length; r++) {
                parts[r] = in.rate[streams[r]] / sum;
                eligible[r] = in.eligibility.eligible(in.streamClass[streams[r]]);
                limit[r] = in.limit[streams[r]];
            }
            return new KeyZones.Keys(parts, eligible, limit);
        }

        private void onAll(int stream) {
            int c = in.streamClass[stream];
            int[] replicas = ring(c).replicas;
            double capacity = capacity(replicas);
            for (int replica : replicas) {
                load[replica] += in.rate[stream] / capacity;
            }
            if (allOfClass.get(c).isEmpty()) {
                allOfClass.set(c, byCapacity(replicas));
            }
            pieces.set(stream, allOfClass.get(c));
            count(stream, replicas.length);
        }

        private void onSome(int stream, int copies, double[] most) {
            int[] chosen = choose(stream, copies, in.rate[stream] / copies, most);
            double capacity = capacity(chosen);
            for (int replica : chosen) {
                load[replica] += in.rate[stream] / capacity;
            }
            pieces.set(stream, byCapacity(chosen));
            count(stream, copies);
        }

        private int[] choose(int stream, int copies, double part, double[] most) {
            Ring ring = ring(in.streamClass[stream]);
            int[] chosen = new int[copies];
            int count = 0;
            List<Integer> full = new ArrayList<>();
            int start = ring.points.start(in.name(stream));
            int visits = Math.min(ring.points.size(), VISITS + VISITS_PER_COPY * copies);
            for (int v = 0; v < visits && count < copies && count + full.size() < ring.replicas.length; v++) {
                int point = start + v;
                int size = ring.points.size();
                int replica = ring.replicas[ring.points.replica(point < size ? point : point - size)];
                if (seenBy[replica] == stream) {
                    continue;
                }
                seenBy[replica] = stream;
                if (load[replica] + part / in.capacity[replica] <= most[replica]) {
                    chosen[count++] = replica;
                } else {
                    full.add(replica);
                }
            }
            if (count < copies) {
                full.sort((a, b) -> {
                    int byExcess = Double.compare(excess(a, part, most), excess(b, part, most));
                    return byExcess != 0 ? byExcess : Integer.compare(a, b);
                });
                for (int replica : full) {
                    if (count < copies) {
                        chosen[count++] = replica;
                    }
                }
            }
            // Replicas of very small capacity have no point on the ring.
            for (int replica : ring.replicas) {
                if (count < copies && seenBy[replica] != stream) {
                    chosen[count++] = replica;
                }
            }
            Arrays.sort(chosen);
            return chosen;
        }

        private double excess(int replica, double part, double[] most) {
            return (load[replica] + part / in.capacity[replica]) / most[replica];
        }

        private Ring ring(int c) {
            Ring ring = rings[c];
            if (ring == null) {
                int[] replicas = in.eligibleReplicas(c);
                String[] names = new String[replicas.length];
                double[] capacity = new double[replicas.length];
                for (int i = 0; i < names.length; i++) {
                    names[i] = in.replicaName(replicas[i]);
                    capacity[i] = in.capacity[replicas[i]];
                }
                ring = new Ring(HashRing.of(names, capacity), replicas);
                rings[c] = ring;
            }
            return ring;
        }

        private double capacity(int[] replicas) {
            double sum = 0;
            for (int replica : replicas) {
                sum += in.capacity[replica];
            }
            return sum;
        }

        private List<Piece> byCapacity(int[] replicas) {
            double[] amounts = new double[replicas.length];
            Arrays.setAll(amounts, p -> in.capacity[replicas[p]]);
            return in.pieces(replicas, amounts, 0, replicas.length);
        }

        /** Counts the copies of a key where they are. */
        private void count(int stream, int copies) {
            int[] counts = copies == 1 ? cold : copies == in.limit[stream] ? hot : normal;
            for (Piece piece : pieces.get(stream)) {
                counts[piece.replica()]++;
            }
        }

        List<String> reasons() {
            List<String> reasons = new ArrayList<>(in.m);
            if (in.n == 0) {
                return Collections.nCopies(in.m, "");
            }
            for (int i = 0; i < in.m; i++) {
                long keys = (long) hot[i] + normal[i] + cold[i];
                reasons.add(String.format(
                        Locale.ROOT,
                        "%d hot, %d normal and %d cold keys; memory %d bytes",
                        hot[i],
                        normal[i],
                        cold[i],
                        keys * bytesPerKey));
            }
            return reasons;
        }
    }
}
