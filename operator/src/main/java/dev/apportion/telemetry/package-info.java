/** What the operator tells of itself: meters, and whether it lives and is ready. */
@NullMarked
package dev.apportion.telemetry;

import org.jspecify.annotations.NullMarked;
