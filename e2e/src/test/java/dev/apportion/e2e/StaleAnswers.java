package dev.apportion.e2e;

import dev.apportion.e2e.bed.Answer;
import dev.apportion.e2e.bed.DnsServer;
import dev.apportion.e2e.bed.Question;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.xbill.DNS.Type;

/** Asks servers for a host without end, and notes how old the addresses of dead pods were that were answered. */
final class StaleAnswers implements AutoCloseable {

    private final AtomicLong count = new AtomicLong();
    private final AtomicLong longest = new AtomicLong();
    private final Set<String> problems = ConcurrentHashMap.newKeySet();
    private final Thread thread;

    private StaleAnswers(List<DnsServer> servers, Question question, PodDeaths deaths) {
        thread = Thread.ofPlatform().daemon().start(() -> {
            for (int round = 0; !Thread.currentThread().isInterrupted(); round++) {
                for (DnsServer server : servers) {
                    look(server, question.withId(DnsServer.slotId(round * 37 % 256)), deaths);
                }
            }
        });
    }

    static StaleAnswers watch(List<DnsServer> servers, Question question, PodDeaths deaths) {
        return new StaleAnswers(servers, question, deaths);
    }

    private void look(DnsServer server, Question question, PodDeaths deaths) {
        long asked = System.nanoTime();
        try {
            Answer answer = server.ask(question);
            List<String> addresses = answer.addresses(Type.A);
            count.incrementAndGet();
            if (addresses.isEmpty()) {
                problems.add(answer.rcode() + " without an address");
            }
            for (String address : addresses) {
                OptionalLong death = deaths.of(address);
                if (death.isPresent()) {
                    longest.accumulateAndGet(asked - death.getAsLong(), Math::max);
                }
            }
        } catch (UncheckedIOException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
    }

    long count() {
        return count.get();
    }

    /** The longest time after which the address of a pod was answered that had been told to end. */
    Duration longest() {
        return Duration.ofNanos(longest.get());
    }

    Set<String> problems() {
        return problems;
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
