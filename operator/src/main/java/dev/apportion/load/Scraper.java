package dev.apportion.load;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Asks processes for their own metrics over HTTP, in the text format of Prometheus or OpenMetrics. Redirects are not followed: a
 * process speaks for itself.
 */
public final class Scraper implements Source, AutoCloseable {

    /** The most that is read of one answer, after decompression. */
    static final long MOST_OCTETS = 16L << 20;

    /** How long one process may take for its whole answer. */
    static final Duration TIMEOUT = Duration.ofSeconds(3);

    /** How many processes of one pool are asked at once. */
    private static final int AT_ONCE = 32;

    /** A time of HTTP has whole seconds, and clocks of two machines differ. */
    private static final long FUTURE_MILLIS = 5000;

    private static final String ACCEPT =
            "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;version=0.0.4;q=0.8,*/*;q=0.1";

    /** Made when it is needed: a client has a thread, and where nothing is scraped there shall be none. */
    private @Nullable HttpClient client;

    @Override
    public void read(Method method, Collection<Target> targets, BiConsumer<Target, Readout> found)
            throws InterruptedException {
        if (!(method instanceof Method.Scrape scrape)) {
            throw new IllegalArgumentException("not a scrape: " + method);
        }
        Semaphore turns = new Semaphore(AT_ONCE);
        List<Thread> threads = new ArrayList<>();
        try {
            for (Target target : targets) {
                turns.acquire();
                threads.add(Thread.ofVirtual().name("scrape " + target.name()).start(() -> {
                    try {
                        found.accept(target, read(scrape, target));
                    } finally {
                        turns.release();
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            threads.forEach(Thread::interrupt);
            throw e;
        }
    }

    private Readout read(Method.Scrape scrape, Target target) {
        return switch (target.place()) {
            case Target.Place.Nowhere(String reason) -> new Readout.Failed(Gap.NotAsked, reason);
            case Target.Place.At(InetSocketAddress address) -> {
                try {
                    yield withinTime(uri(address, scrape.path()), scrape);
                } catch (URISyntaxException e) {
                    yield new Readout.Failed(
                            Gap.NotAsked, "the path \"%s\" cannot stand in a URL".formatted(scrape.path()));
                }
            }
        };
    }

    /** The timeout of a request ends with the head of its answer, so the calling thread is stopped from aside. */
    private Readout withinTime(URI uri, Method.Scrape scrape) {
        try (Alarm alarm = new Alarm(TIMEOUT)) {
            try {
                return ask(uri, scrape);
            } catch (InterruptedException e) {
                return failed(Gap.Unreachable, uri, alarm.words());
            } catch (IOException e) {
                return alarm.hasRung() ? failed(Gap.Unreachable, uri, alarm.words()) : failed(Gap.of(e), uri, words(e));
            }
        }
    }

    private static String words(IOException e) {
        if (e instanceof ConnectException) {
            return "no connection: " + Optional.ofNullable(e.getMessage()).orElse("refused");
        }
        return Optional.ofNullable(e.getMessage()).orElse(e.getClass().getSimpleName());
    }

    private static Readout failed(Gap gap, URI uri, String what) {
        return new Readout.Failed(gap, "%s: %s".formatted(uri, what));
    }

    private Readout ask(URI uri, Method.Scrape scrape) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("Accept", ACCEPT)
                .header("Accept-Encoding", "gzip")
                .header("User-Agent", "apportion")
                .timeout(TIMEOUT)
                .build();
        HttpResponse<InputStream> response = client().send(request, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = response.body()) {
            if (response.statusCode() != HttpURLConnection.HTTP_OK) {
                return failed(Gap.Refused, uri, "HTTP status " + response.statusCode());
            }
            long arrived = System.nanoTime();
            boolean openMetrics = header(response, "Content-Type").startsWith("application/openmetrics-text");
            Exposition read =
                    Exposition.read(text(response, body), scrape.series().wanted(), openMetrics);
            if (read.sums().isEmpty()) {
                return failed(
                        Gap.Absent,
                        uri,
                        "no sample of " + String.join(", ", scrape.series().wanted()));
            }
            return taken(uri, read, header(response, "Date"), arrived, scrape.series());
        }
    }

    private static Readout taken(URI uri, Exposition read, String date, long arrived, Series series) {
        long age = 0;
        OptionalLong now = millis(date);
        if (read.oldestMillis().isPresent() && now.isPresent()) {
            age = now.getAsLong() - read.oldestMillis().getAsLong();
            if (age < -FUTURE_MILLIS) {
                return failed(Gap.Future, uri, "its samples are %d s in the future".formatted(-age / 1000));
            }
        }
        return new Readout.Values(
                series.quantities(read.sums()),
                arrived - TimeUnit.MILLISECONDS.toNanos(Math.max(0, age)),
                read.oldestMillis().orElse(TimeUnit.NANOSECONDS.toMillis(arrived)));
    }

    /** The time of a server's clock. */
    private static OptionalLong millis(String date) {
        try {
            Instant time = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return OptionalLong.of(time.toEpochMilli());
        } catch (DateTimeException e) {
            return OptionalLong.empty();
        }
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    private static InputStream text(HttpResponse<?> response, InputStream body) throws IOException {
        String encoding = header(response, "Content-Encoding").toLowerCase(Locale.ROOT);
        InputStream bounded = new Bounded(body, MOST_OCTETS);
        return switch (encoding) {
            case "", "identity" -> bounded;
            case "gzip", "x-gzip" -> new Bounded(new GZIPInputStream(bounded), MOST_OCTETS);
            default ->
                throw new Gap.UnansweredException(
                        Gap.Malformed, "the content encoding \"%s\" was not asked for".formatted(encoding));
        };
    }

    private static URI uri(InetSocketAddress address, String path) throws URISyntaxException {
        String host = address.getAddress().getHostAddress();
        return new URI("http://%s:%d%s"
                .formatted(
                        address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host,
                        address.getPort(),
                        path));
    }

    private synchronized HttpClient client() {
        HttpClient known = client;
        if (known == null) {
            known = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .connectTimeout(TIMEOUT)
                    .build();
            client = known;
        }
        return known;
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            client.shutdownNow();
        }
    }
}
