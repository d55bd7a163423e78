package dev.apportion.load;

import java.time.Duration;
import java.util.List;

/**
 * What is to be measured of a pool.
 *
 * @param interval the time between two measurements
 * @param targets of what, with unique keys
 */
public record Assignment(Method method, Duration interval, List<Target> targets) {

    public Assignment {
        targets = List.copyOf(targets);
    }
}
