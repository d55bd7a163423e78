package dev.apportion.allocation;

/**
 * How many copies the keys of a pool get, from the most frequent one to the least, so that the total is small and the
 * coefficient of variation of the replicas' loads stays below a bound.
 *
 * <p>A key with the part p of all requests that has d copies on randomly chosen ones of M replicas adds p²(M/d − 1) to the
 * squared coefficient of variation. Where a limit keeps copies so few that the bound cannot be met, the bound applies to what
 * comes on top of the unavoidable.
 */
final class KeyZones {

    /** Up to this number every d is tried; beyond, steps of a twentieth. */
    private static final int EVERY = 64;

    private static final int STEPS_PER_UNIT = 20;

    private static final int HALVINGS = 100;

    /** The copies of each key. */
    final int[] copies;

    /** a: the keys before this one have as many copies as they may. */
    final int hot;

    /** b: the keys from hot to before this one have {@link #normalCopies}, as far as they may, and the others one. */
    final int normal;

    /** d; zero where the number is not the same for all. */
    final int normalCopies;

    /** The coefficient of variation that random placement is expected to give. */
    final double variation;

    private KeyZones(Keys keys, int[] copies, int hot, int normal, int normalCopies) {
        this.copies = copies;
        this.hot = hot;
        this.normal = normal;
        this.normalCopies = normalCopies;
        double variance = 0;
        for (int r = copies.length - 1; r >= 0; r--) {
            variance += keys.variance(r, copies[r]);
        }
        variation = Math.sqrt(Math.max(0, variance));
    }

    /** The total of copies over all keys. */
    long memory() {
        long sum = 0;
        for (int some : copies) {
            sum += some;
        }
        return sum;
    }

    /** Keys by descending frequency. */
    static final class Keys {

        /** p of each key. */
        private final double[] parts;

        /** M of each key, at least one. */
        private final int[] eligible;

        /** The most copies of each key, from one to M. */
        private final int[] limit;

        Keys(double[] parts, int[] eligible, int[] limit) {
            this.parts = parts;
            this.eligible = eligible;
            this.limit = limit;
        }

        int count() {
            return parts.length;
        }

        double variance(int key, double copies) {
            return parts[key] * parts[key] * (eligible[key] / copies - 1);
        }

        /** The squared coefficient of variation that is aimed at. */
        double budget(double variation) {
            double unavoidable = 0;
            for (int r = 0; r < count(); r++) {
                unavoidable += variance(r, limit[r]);
            }
            double wanted = variation * variation;
            return unavoidable <= wanted ? wanted : unavoidable + wanted;
        }

        int mostEligible() {
            int most = 1;
            for (int some : eligible) {
                most = Math.max(most, some);
            }
            return most;
        }
    }

    /** Three zones: hot keys on all their replicas, normal ones on d, cold ones on one. */
    static KeyZones three(Keys keys, double variation) {
        int n = keys.count();
        double budget = keys.budget(variation);
        double[] hotVariance = new double[n + 1];
        double[] coldVariance = new double[n + 1];
        long[] hotCopies = new long[n + 1];
        for (int r = 0; r < n; r++) {
            hotVariance[r + 1] = hotVariance[r] + keys.variance(r, keys.limit[r]);
            hotCopies[r + 1] = hotCopies[r] + keys.limit[r];
        }
        // from the end, so that the many small ones are added before the few large ones
        for (int r = n - 1; r >= 0; r--) {
            coldVariance[r] = coldVariance[r + 1] + keys.variance(r, 1);
        }
        long least = Long.MAX_VALUE;
        int hot = 0;
        int normal = 0;
        int normalCopies = 1;
        int most = keys.mostEligible();
        double[] variance = new double[n + 1];
        long[] copies = new long[n + 1];
        for (int d = Math.min(2, most); d < most || d <= 2; d = d < EVERY ? d + 1 : d + d / STEPS_PER_UNIT) {
            for (int r = 0; r < n; r++) {
                int some = Math.min(d, keys.limit[r]);
                variance[r + 1] = variance[r] + keys.variance(r, some);
                copies[r + 1] = copies[r] + some;
            }
            // The more keys are hot, the fewer have to be normal.
            int b = n;
            for (int a = 0; a <= n && hotCopies[a] + (n - a) < least; a++) {
                b = Math.max(b, a);
                if (hotVariance[a] + variance[b] - variance[a] + coldVariance[b] > budget) {
                    continue;
                }
                while (b > a && hotVariance[a] + variance[b - 1] - variance[a] + coldVariance[b - 1] <= budget) {
                    b--;
                }
                long memory = hotCopies[a] + copies[b] - copies[a] + (n - b);
                if (memory < least) {
                    least = memory;
                    hot = a;
                    normal = b;
                    normalCopies = d;
                }
            }
        }
        int[] result = new int[n];
        for (int r = 0; r < n; r++) {
            result[r] = r < hot ? keys.limit[r] : r < normal ? Math.min(normalCopies, keys.limit[r]) : 1;
        }
        return new KeyZones(keys, result, hot, normal, normalCopies);
    }

    /** Copies in proportion to frequency, between one and all: the relaxed optimum, rounded. */
    static KeyZones continuous(Keys keys, double variation) {
        double budget = keys.budget(variation);
        int n = keys.count();
        double high = 0;
        for (int r = 0; r < n; r++) {
            if (keys.parts[r] > 0) {
                high = Math.max(high, (keys.limit[r] + 1) / keys.parts[r]);
            }
        }
        double low = 0;
        for (int i = 0; i < HALVINGS && low < high; i++) {
            double middle = (low + high) / 2;
            double variance = 0;
            for (int r = n - 1; r >= 0; r--) {
                variance += keys.variance(r, proportional(keys, r, middle));
            }
            if (variance <= budget) {
                high = middle;
            } else {
                low = middle;
            }
        }
        int[] copies = new int[n];
        int hot = 0;
        int normal = 0;
        for (int r = 0; r < n; r++) {
            copies[r] = proportional(keys, r, high);
            hot += copies[r] == keys.limit[r] && hot == r ? 1 : 0;
            normal = copies[r] > 1 ? r + 1 : normal;
        }
        return new KeyZones(keys, copies, Math.min(hot, normal), normal, 0);
    }

    private static int proportional(Keys keys, int key, double factor) {
        return (int) Math.clamp(Math.rint(factor * keys.parts[key]), 1, keys.limit[key]);
    }
}
