/**
 * Tests on a whole cluster: {@link dev.apportion.e2e.kind.WithCluster} gives a test class a kind cluster with stock settings,
 * {@link dev.apportion.e2e.kind.Cluster} is what a test can do with it.
 */
@NullMarked
package dev.apportion.e2e.kind;

import org.jspecify.annotations.NullMarked;
