package dev.apportion.allocation;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Numbers in the explanations of policies. */
final class Rounded {

    private static final int DECIMALS = 2;

    private Rounded() {}

    /** A finite number with at most two decimals, without exponent. */
    static String text(double value) {
        return BigDecimal.valueOf(value)
                .setScale(DECIMALS, RoundingMode.HALF_EVEN)
                .stripTrailingZeros()
                .toPlainString();
    }
}
