/**
 * Discrete-event simulation with a virtual clock: clients, resolvers that cache, and servers with queues, over the same
 * allocation and records that the operator publishes. Reads no file and prints nothing.
 */
@NullMarked
package dev.apportion.simulation;

import org.jspecify.annotations.NullMarked;
