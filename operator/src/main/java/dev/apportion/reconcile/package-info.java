/**
 * From custom resources to plans and back to conditions: gather, decide, act. The only package, beside the command line, that
 * sees the API types.
 */
@NullMarked
package dev.apportion.reconcile;

import org.jspecify.annotations.NullMarked;
