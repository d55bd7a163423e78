package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Question;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.xbill.DNS.Type;

/** Asks a server for hosts without end, and keeps every answer that no plan allows. */
final class AnswerWatch implements AutoCloseable {

    /** A server that reads its configuration anew may lose one question. */
    private static final int TRIES = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(2);

    private final DnsServer server;
    private final Set<String> lasting;
    private final Set<String> passing;
    private final Set<Set<String>> plans;
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final AtomicLong answers = new AtomicLong();
    private final Thread thread;
    private final Set<String> arrived = ConcurrentHashMap.newKeySet();
    private volatile String leaving = "";
    private volatile boolean stopped;

    private AnswerWatch(DnsServer server, Set<String> lasting, Set<String> passing, Set<Set<String>> plans) {
        this.server = server;
        this.lasting = lasting;
        this.passing = passing;
        this.plans = plans;
        this.thread = Thread.ofPlatform().daemon().name("answers").unstarted(this::run);
    }

    /**
     * Watches from now on.
     *
     * @param lasting hosts that have answers at all times
     * @param passing hosts that may be missing
     * @param plans the addresses of a host under each plan: one of them, or all, are in an answer
     */
    static AnswerWatch start(DnsServer server, Set<String> lasting, Set<String> passing, Set<Set<String>> plans) {
        AnswerWatch watch = new AnswerWatch(server, lasting, passing, plans);
        watch.thread.start();
        return watch;
    }

    private void run() {
        int round = 0;
        while (!stopped) {
            round++;
            for (String host : lasting) {
                look(host, round);
            }
            for (String host : passing) {
                look(host, round);
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void look(String host, int round) {
        Question question = Question.of(host, Type.A).within(PATIENCE).withId(DnsServer.slotId(round * 37 % 256));
        for (int i = 1; i <= TRIES && !stopped; i++) {
            try {
                Answer answer = server.ask(question);
                answers.incrementAndGet();
                if (!allowed(host, answer)) {
                    violations.add(host + ": " + answer.rcode() + " " + answer.addresses(Type.A));
                }
                return;
            } catch (UncheckedIOException silent) {
                if (i == TRIES) {
                    violations.add(host + ": no answer, " + silent.getMessage());
                }
            }
        }
    }

    private boolean allowed(String host, Answer answer) {
        Set<String> found = new HashSet<>(answer.addresses(Type.A));
        if (found.isEmpty() && passing.contains(host)) {
            // The name and its addresses come and go one after the other, but what came stays.
            return !arrived.contains(host) && Set.of("NXDOMAIN", "NOERROR").contains(answer.rcode());
        }
        if (!host.equals(leaving)) {
            arrived.add(host);
        }
        return answer.rcode().equals("NOERROR")
                && (found.size() == 1
                        ? plans.stream().anyMatch(plan -> plan.containsAll(found))
                        : plans.contains(found));
    }

    /** From now on this host is on its way out, and no other. */
    void leaves(String host) {
        leaving = host;
        arrived.remove(host);
    }

    /** How many answers came so far. */
    long answers() {
        return answers.get();
    }

    /** Fails if any answer so far was one that no plan allows. */
    void check() {
        assertThat(violations).as("answers that no plan has").isEmpty();
    }

    /** Whether the server knows no such name. */
    static boolean isGone(DnsServer server, String host) {
        return server.ask(Question.of(host, Type.A)).rcode().equals("NXDOMAIN");
    }

    /** The answers of sixteen of the 256 slots; empty if there is no such host. */
    static List<List<String>> ask(DnsServer server, String host) {
        return IntStream.iterate(0, slot -> slot < 256, slot -> slot + 16)
                .mapToObj(slot -> server.ask(Question.of(host, Type.A).withId(DnsServer.slotId(slot)))
                        .addresses(Type.A))
                .filter(addresses -> !addresses.isEmpty())
                .toList();
    }

    @Override
    public void close() {
        stopped = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
