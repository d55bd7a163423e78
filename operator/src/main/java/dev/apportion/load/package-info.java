/**
 * Measures the load of replicas: sources fill readouts, and a pure history makes samples of them. It knows HTTP and the metrics
 * API, and nothing of pools or plans.
 */
@NullMarked
package dev.apportion.load;

import org.jspecify.annotations.NullMarked;
