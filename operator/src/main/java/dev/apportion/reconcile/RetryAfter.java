package dev.apportion.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Until when the API server wants not to see a request again: what it said in the header {@code Retry-After} (RFC 9110, section
 * 10.2.3) or in the details of a Status.
 */
final class RetryAfter implements Interceptor {

    /** Whatever a server says: a slip of it shall not stop the operator for a day. */
    static final Duration LONGEST = Duration.ofMinutes(5);

    private static final String HEADER = "Retry-After";

    private final Clock clock;
    private final LongSupplier monotonic;
    private final Duration longestRead;
    /** By the monotonic clock, in nanoseconds: a clock that is set must not make anybody wait. */
    private final Map<Call, Long> until = new ConcurrentHashMap<>();

    /**
     * A kind of request.
     *
     * @param path from {@code /api} or {@code /apis} on
     */
    record Call(String method, String path) {

        /** An API server may be reached below a path of a gateway. */
        private static final Pattern START = Pattern.compile("/apis?/");

        static Call create(String namespace, String plural) {
            return new Call("POST", "/api/v1/namespaces/%s/%s".formatted(namespace, plural));
        }

        static Call patch(String namespace, String plural, String name) {
            return new Call("PATCH", "/api/v1/namespaces/%s/%s/%s".formatted(namespace, plural, name));
        }

        private static Call of(HttpRequest request) {
            Matcher start = START.matcher(request.uri().getPath());
            return new Call(
                    request.method(),
                    start.find()
                            ? request.uri().getPath().substring(start.start())
                            : request.uri().getPath());
        }
    }

    /**
     * Nothing asked yet.
     *
     * @param clock for dates that a server says
     * @param monotonic nanoseconds that nobody sets
     * @param longestRead how long, at most, the refusal of a read is kept back from who sends it again by himself
     */
    RetryAfter(Clock clock, LongSupplier monotonic, Duration longestRead) {
        this.clock = clock;
        this.monotonic = monotonic;
        this.longestRead = longestRead;
    }

    /** What this client has been told; a client that {@link ClusterClient} did not make cannot see the header. */
    static RetryAfter of(KubernetesClient client, Clock clock) {
        @Nullable
        RetryAfter own = client.getHttpClient() instanceof RequestTags tags ? tags.getTag(RetryAfter.class) : null;
        return own == null ? new RetryAfter(clock, System::nanoTime, Duration.ZERO) : own;
    }

    /** How long to wait before this is sent again; empty if it may be sent now. */
    Optional<Duration> left(Call call) {
        Long end = until.get(call);
        if (end == null) {
            return Optional.empty();
        }
        Duration left = Duration.ofNanos(end - monotonic.getAsLong());
        return left.isPositive() ? Optional.of(left) : Optional.empty();
    }

    /** Notes what the Status of a failure says. */
    void refused(Call call, KubernetesClientException failure) {
        if (failure.getStatus() != null && failure.getStatus().getDetails() != null) {
            Integer seconds = failure.getStatus().getDetails().getRetryAfterSeconds();
            if (seconds != null) {
                wait(call, Duration.ofSeconds(seconds));
            }
        }
    }

    /** Notes that this is not to be sent again for a while. */
    void wait(Call call, Duration asked) {
        if (!asked.isPositive()) {
            return;
        }
        long now = monotonic.getAsLong();
        until.values().removeIf(end -> end - now <= 0);
        long end = now + (asked.compareTo(LONGEST) < 0 ? asked : LONGEST).toNanos();
        until.merge(call, end, (one, two) -> one - two > 0 ? one : two);
    }

    @Override
    public CompletableFuture<Boolean> afterFailure(BasicBuilder builder, HttpResponse<?> response, RequestTags tags) {
        String header = response.header(HEADER);
        Optional<Duration> asked = header == null ? Optional.empty() : delay(header);
        asked.ifPresent(time -> wait(Call.of(response.request()), time));
        CompletableFuture<Boolean> noOtherRequest = new CompletableFuture<>();
        if (asked.isEmpty() || !response.request().method().equals("GET")) {
            noOtherRequest.complete(false);
            return noOtherRequest;
        }
        // The client library lists and watches again by itself, too early: it hears of the refusal when the time is
        // over.
        Duration pause = asked.get().compareTo(longestRead) < 0 ? asked.get() : longestRead;
        return noOtherRequest.completeOnTimeout(false, Math.max(0, pause.toMillis()), TimeUnit.MILLISECONDS);
    }

    /** The delay that a header says, in seconds or as a date. */
    Optional<Duration> delay(String header) {
        String text = header.strip();
        if (text.matches("[0-9]{1,9}")) {
            return Optional.of(Duration.ofSeconds(Long.parseLong(text)));
        }
        try {
            return Optional.of(
                    Duration.between(clock.instant(), ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)));
        } catch (DateTimeException unreadable) {
            return Optional.empty();
        }
    }
}
