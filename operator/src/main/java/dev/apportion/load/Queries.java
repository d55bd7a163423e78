package dev.apportion.load;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for the rates of streams. A pool whose streams have queries has one virtual thread, which sleeps between two rounds;
 * without any there is nothing.
 */
public final class Queries implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Queries.class);

    /** How many queries of one pool are asked at once. */
    private static final int AT_ONCE = 8;

    private final Asker asker;
    private final Consumer<String> listener;
    private final Consumer<Gap> missing;
    private final Map<String, Rounds> pools = new ConcurrentHashMap<>();

    /** Where queries are asked. */
    public interface Asker {

        /**
         * The one number that a query gives.
         *
         * @return empty if it gives none
         * @throws IOException if it cannot be asked, or gives something else; the message is for people
         */
        OptionalDouble number(String source, String query) throws IOException, InterruptedException;
    }

    /**
     * Nothing is asked yet.
     *
     * @param listener told the name of a pool when more is known of its rates
     * @param missing told of each answer that gives no rate
     */
    public Queries(Asker asker, Consumer<String> listener, Consumer<Gap> missing) {
        this.asker = asker;
        this.listener = listener;
        this.missing = missing;
    }

    /** Has a pool's queries asked from now on, and no others of it; new ones at once. */
    public void follow(String pool, Set<RateQuery> queries, Duration interval) {
        pools.compute(pool, (name, rounds) -> {
            if (queries.isEmpty()) {
                if (rounds != null) {
                    rounds.stop();
                }
                return null;
            }
            Rounds running = rounds == null ? new Rounds(name) : rounds;
            running.set(Set.copyOf(queries), interval);
            return running;
        });
    }

    public void forget(String pool) {
        follow(pool, Set.of(), Duration.ZERO);
    }

    /** What a query of a pool has given. */
    public Rate rate(String pool, RateQuery query) {
        Rounds rounds = pools.get(pool);
        return rounds == null ? Rate.NEW : rounds.rates.getOrDefault(query, Rate.NEW);
    }

    @Override
    public void close() {
        Set.copyOf(pools.keySet()).forEach(this::forget);
    }

    private record Wanted(Set<RateQuery> queries, Duration interval) {}

    /** The rounds of one pool, on a thread of its own. */
    private final class Rounds {

        private final String pool;
        private final Map<RateQuery, Rate> rates = new ConcurrentHashMap<>();
        private final Thread thread;
        private volatile Wanted wanted = new Wanted(Set.of(), Duration.ZERO);
        private volatile CountDownLatch wake = new CountDownLatch(1);
        private volatile boolean stopped;

        Rounds(String pool) {
            this.pool = pool;
            this.thread = Thread.ofVirtual().name("query for " + pool).unstarted(this::run);
        }

        void set(Set<RateQuery> queries, Duration interval) {
            Wanted next = new Wanted(queries, interval);
            if (!next.equals(wanted)) {
                wanted = next;
                wake.countDown();
                if (thread.getState() == Thread.State.NEW) {
                    thread.start();
                }
            }
        }

        void stop() {
            stopped = true;
            thread.interrupt();
        }

        private void run() {
            try {
                long next = System.nanoTime();
                while (!stopped) {
                    wake = new CountDownLatch(1);
                    Wanted now = wanted;
                    rates.keySet().retainAll(now.queries());
                    boolean due = System.nanoTime() - next >= 0;
                    if (due) {
                        next = System.nanoTime() + now.interval().toNanos();
                    }
                    boolean all = due;
                    List<RateQuery> asked = now.queries().stream()
                            .filter(query -> all || !rates.containsKey(query))
                            .toList();
                    ask(asked);
                    if (!asked.isEmpty() && !stopped) {
                        listener.accept(pool);
                    }
                    next = Math.min(next, System.nanoTime() + now.interval().toNanos());
                    var _ = wake.await(Math.max(0, next - System.nanoTime()), TimeUnit.NANOSECONDS);
                }
            } catch (InterruptedException e) {
                LOG.atDebug().addKeyValue("pool", pool).log("Asked for no more rates");
            }
        }

        private void ask(List<RateQuery> queries) throws InterruptedException {
            Semaphore turns = new Semaphore(AT_ONCE);
            List<Thread> threads = new ArrayList<>();
            try {
                for (RateQuery query : queries) {
                    turns.acquire();
                    threads.add(Thread.ofVirtual().name("query for " + pool).start(() -> {
                        try {
                            ask(query);
                        } finally {
                            turns.release();
                        }
                    }));
                }
                for (Thread one : threads) {
                    one.join();
                }
            } catch (InterruptedException e) {
                threads.forEach(Thread::interrupt);
                throw e;
            }
        }

        private void ask(RateQuery query) {
            Rate before = rates.getOrDefault(query, Rate.NEW);
            try {
                OptionalDouble answer = asker.number(query.source(), query.text());
                Rate.gap(answer).ifPresent(missing);
                rates.put(query, before.next(answer, System.nanoTime()));
            } catch (IOException e) {
                missing.accept(Gap.of(e));
                rates.put(query, before.failed(String.valueOf(e.getMessage())));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException e) {
                LOG.atWarn().addKeyValue("pool", pool).setCause(e).log("Could not ask for a rate");
                rates.put(query, before.failed(String.valueOf(e.getMessage())));
            }
        }
    }
}
