package dev.apportion.reconcile;

import dev.apportion.telemetry.Meters;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import java.time.Duration;

/** Times reconciliations. */
record ReconcileTimes(Meters meters) implements Metrics {

    @Override
    public <T> T timeControllerExecution(ControllerExecution<T> execution) throws Exception {
        long since = System.nanoTime();
        boolean succeeded = false;
        try {
            T outcome = execution.execute();
            succeeded = true;
            return outcome;
        } finally {
            meters.reconciled(execution.controllerName(), succeeded, Duration.ofNanos(System.nanoTime() - since));
        }
    }
}
