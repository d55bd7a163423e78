package dev.apportion.simulation;

import java.util.random.RandomGenerator;

/** The law of a random quantity that is greater than zero. */
public sealed interface Law {

    double mean();

    /** The mean of the square. */
    double secondMoment();

    double draw(RandomGenerator random);

    /** Always the same. */
    record Fixed(double mean) implements Law {
        @Override
        public double secondMoment() {
            return mean * mean;
        }

        @Override
        public double draw(RandomGenerator random) {
            return mean;
        }
    }

    /** Without memory. */
    record Exponential(double mean) implements Law {
        @Override
        public double secondMoment() {
            return 2 * mean * mean;
        }

        @Override
        public double draw(RandomGenerator random) {
            return mean * random.nextExponential();
        }
    }

    /**
     * Many small and few very large ones, as of files on the Web: the density falls as x^−(shape + 1) between two bounds.
     * Source: Crovella, Harchol-Balter, Murta, Task assignment in a distributed system, 1998.
     *
     * @param shape greater than zero
     * @param least the lower bound, greater than zero
     * @param most the upper bound, greater than {@code least}
     */
    record BoundedPareto(double shape, double least, double most) implements Law {
        @Override
        public double mean() {
            return moment(1);
        }

        @Override
        public double secondMoment() {
            return moment(2);
        }

        private double moment(int order) {
            double ratio = least / most;
            double scale = shape * Math.pow(least, order) / -Math.expm1(shape * Math.log(ratio));
            double exponent = shape - order;
            return exponent == 0
                    ? scale * -Math.log(ratio)
                    : scale * -Math.expm1(exponent * Math.log(ratio)) / exponent;
        }

        @Override
        public double draw(RandomGenerator random) {
            double part = -Math.expm1(shape * Math.log(least / most));
            return least * Math.pow(1 - random.nextDouble() * part, -1 / shape);
        }
    }
}
