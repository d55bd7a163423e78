package dev.apportion.health;

import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checks that are going on, each on a virtual thread of its own: one that gets no answer delays nobody. Without targets
 * it does nothing.
 *
 * @param <U> who wants to know, such as a pool
 */
public final class HealthChecks<U> implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HealthChecks.class);

    /** The most questions at a time: each holds a connection. */
    private static final int MOST_AT_A_TIME = 256;

    private final Function<Target, CheckResult> checker;
    private final Consumer<U> changed;
    private final Semaphore turns = new Semaphore(MOST_AT_A_TIME);
    private final Map<Target, Course> courses = new ConcurrentHashMap<>();
    private final Map<U, Set<Target>> wanted = new ConcurrentHashMap<>();

    /** @param changed told whose targets are not as they were */
    public HealthChecks(Consumer<U> changed) {
        this(new Checker()::check, changed);
    }

    HealthChecks(Function<Target, CheckResult> checker, Consumer<U> changed) {
        this.checker = checker;
        this.changed = changed;
    }

    /** What is known of a target. */
    public EndpointHealth of(Target target) {
        Course course = courses.get(target);
        return course == null ? Streak.NEW.health() : course.streak.health();
    }

    /** Checks these targets for somebody from now on, and no others. */
    public synchronized void check(U user, Set<Target> targets) {
        if (targets.isEmpty()) {
            wanted.remove(user);
        } else if (targets.equals(wanted.put(user, Set.copyOf(targets)))) {
            return;
        }
        Set<Target> all = new HashSet<>();
        wanted.values().forEach(all::addAll);
        courses.entrySet().removeIf(entry -> {
            boolean gone = !all.contains(entry.getKey());
            if (gone) {
                entry.getValue().thread.interrupt();
            }
            return gone;
        });
        all.forEach(target -> courses.computeIfAbsent(target, Course::new));
    }

    private void changed(Target target, EndpointHealth health) {
        LOG.atInfo()
                .addKeyValue("address", target.address().getHostAddress())
                .addKeyValue("port", target.check().question().port())
                .addKeyValue("health", health)
                .log("Endpoint health");
        wanted.forEach((user, targets) -> {
            if (targets.contains(target)) {
                changed.accept(user);
            }
        });
    }

    @Override
    public synchronized void close() {
        wanted.clear();
        courses.values().forEach(course -> course.thread.interrupt());
        courses.clear();
    }

    /** The checks of one target. */
    private final class Course {

        private final Target target;
        private final Thread thread;
        private volatile Streak streak = Streak.NEW;

        Course(Target target) {
            this.target = target;
            thread = Thread.ofVirtual()
                    .name("check " + target.address().getHostAddress())
                    .start(this::run);
        }

        private void run() {
            Duration interval = target.check().interval();
            try {
                look();
                // Those that began together need not go on together.
                Thread.sleep(interval.dividedBy(256).multipliedBy(1 + (target.hashCode() & 0xff)));
                while (true) {
                    look();
                    Thread.sleep(interval);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void look() throws InterruptedException {
            turns.acquire();
            CheckResult result;
            try {
                result = checker.apply(target);
            } finally {
                turns.release();
            }
            Streak before = streak;
            streak = before.next(result, target.check());
            if (!streak.health().equals(before.health())) {
                changed(target, streak.health());
            }
        }
    }
}
