package dev.apportion.load;

import java.util.Collection;
import java.util.function.BiConsumer;

/** Reads the load of targets. */
public interface Source {

    /**
     * Reads targets once.
     *
     * @param found told what was read of each target, on any thread, as soon as it is known
     * @throws InterruptedException if it is to stop; some targets may then not have been told of
     */
    void read(Method method, Collection<Target> targets, BiConsumer<Target, Readout> found) throws InterruptedException;
}
