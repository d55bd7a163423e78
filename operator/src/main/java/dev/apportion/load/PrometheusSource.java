package dev.apportion.load;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;

/**
 * Asks Prometheus servers for the series of the pods of a namespace, by the labels {@code namespace} and {@code pod}. For each
 * series one query gives the sum of each pod's samples, and another the time of the oldest of them; counters are made rates here, by
 * these times.
 */
public final class PrometheusSource implements Source, AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final long MOST_OCTETS = 64L << 20;
    private static final int SHOWN = 200;
    private static final int DELETE = 0x7f;
    private static final double MILLIS_PER_SECOND = 1000;

    /** What a server's clock may be behind that of the process which it scraped. */
    private static final double FUTURE_SECONDS = 5;

    private final Map<String, PrometheusServer> servers;
    private final Map<String, HttpClient> clients = new ConcurrentHashMap<>();
    private final ObjectMapper json = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxDocumentLength(MOST_OCTETS)
                            .build())
                    .build())
            .build();

    /** Asks the servers that are named. */
    public PrometheusSource(Map<String, PrometheusServer> servers) {
        this.servers = Map.copyOf(servers);
    }

    /**
     * The pods' samples of one series.
     *
     * @param values the sum of each pod's samples, by its name
     * @param times the time of the oldest of them, in seconds since 1970 by the clock of Prometheus
     */
    private record Samples(Map<String, Double> values, Map<String, Double> times, double now) {}

    @Override
    public void read(Method method, Collection<Target> targets, BiConsumer<Target, Readout> found)
            throws InterruptedException {
        if (!(method instanceof Method.Prometheus asked)) {
            throw new IllegalArgumentException("not a Prometheus server: " + method);
        }
        Map<String, Samples> bySeries = new TreeMap<>();
        try {
            for (String series : asked.series().wanted()) {
                bySeries.put(series, samples(asked, series));
            }
        } catch (IOException e) {
            Readout failed = new Readout.Failed(Gap.of(e), words(asked.source(), e));
            targets.forEach(target -> found.accept(target, failed));
            return;
        }
        long arrived = System.nanoTime();
        targets.forEach(target -> found.accept(target, readout(target, asked, bySeries, arrived)));
    }

    private static String words(String source, IOException e) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        return "the Prometheus source \"%s\": %s".formatted(source, message);
    }

    private static Readout readout(
            Target target, Method.Prometheus asked, Map<String, Samples> bySeries, long arrived) {
        if (target.uid().isEmpty()) {
            return new Readout.Failed(
                    Gap.NotAsked, "no pod stands behind it, and a Prometheus server is asked for pods only");
        }
        Map<String, Double> values = new HashMap<>();
        double oldest = Double.POSITIVE_INFINITY;
        double now = 0;
        for (Map.Entry<String, Samples> entry : bySeries.entrySet()) {
            Samples samples = entry.getValue();
            Double value = samples.values().get(target.name());
            Double time = samples.times().get(target.name());
            if (value != null && time != null) {
                values.put(entry.getKey(), value);
                oldest = Math.min(oldest, time);
                now = Math.max(now, samples.now());
            }
        }
        if (values.isEmpty()) {
            return new Readout.Failed(
                    Gap.Absent,
                    "the Prometheus source \"%s\" has no sample of %s with the labels namespace=\"%s\", pod=\"%s\""
                            .formatted(
                                    asked.source(),
                                    String.join(", ", asked.series().wanted()),
                                    asked.namespace(),
                                    target.name()));
        }
        if (target.started().isPresent() && oldest < target.started().get().getEpochSecond()) {
            return new Readout.Failed(Gap.Outdated, "the sample is older than the pod");
        }
        double age = now - oldest;
        if (age < -FUTURE_SECONDS) {
            return new Readout.Failed(Gap.Future, "the sample is %d s in the future".formatted(Math.round(-age)));
        }
        return new Readout.Values(
                asked.series().quantities(values),
                arrived - Math.round(Math.max(0, age) * TimeUnit.SECONDS.toNanos(1)),
                Math.round(oldest * MILLIS_PER_SECOND));
    }

    private Samples samples(Method.Prometheus asked, String series) throws IOException, InterruptedException {
        String selector = "%s{namespace=\"%s\"}".formatted(series, asked.namespace());
        Map<String, Double> times = new HashMap<>();
        double now = byPod(query(asked.source(), "min by (pod) (timestamp(%s))".formatted(selector)), times);
        Map<String, Double> values = new HashMap<>();
        // Of two samples of a pod, one below zero would hide in the sum.
        byPod(query(asked.source(), "(min by (pod) (%1$s) < 0) or sum by (pod) (%1$s)".formatted(selector)), values);
        return new Samples(values, times, now);
    }

    /**
     * The one number that a query gives.
     *
     * @return empty if it gives none
     * @throws IOException if it cannot be asked, or gives something else; the message is for people
     */
    public OptionalDouble number(String source, String query) throws IOException, InterruptedException {
        JsonNode data;
        try {
            data = query(source, query);
        } catch (IOException e) {
            throw new Gap.UnansweredException(Gap.of(e), words(source, e));
        }
        JsonNode result = data.path("result");
        return switch (data.path("resultType").asText()) {
            case "scalar" -> OptionalDouble.of(number(result));
            case "vector" -> {
                if (result.size() > 1) {
                    throw new Gap.UnansweredException(
                            Gap.Malformed,
                            "the query gives %d series, and one is needed; maybe sum them".formatted(result.size()));
                }
                yield result.isEmpty()
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(number(result.path(0).path("value")));
            }
            default ->
                throw new Gap.UnansweredException(
                        Gap.Malformed, "the query gives neither a number nor an instant vector");
        };
    }

    /** Puts each pod's value; returns the time of the answer, in seconds since 1970. */
    private static double byPod(JsonNode data, Map<String, Double> values) throws IOException {
        double time = 0;
        for (JsonNode entry : data.path("result")) {
            String pod = entry.path("metric").path("pod").asText();
            if (!pod.isEmpty()) {
                values.put(pod, number(entry.path("value")));
            }
            time = Math.max(time, entry.path("value").path(0).asDouble());
        }
        return time;
    }

    /** The number of a sample, which is a pair of a time and a text. */
    private static double number(JsonNode sample) throws IOException {
        String text = sample.path(1).asText();
        return switch (text) {
            case "NaN" -> Double.NaN;
            case "+Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            default -> {
                try {
                    yield Double.parseDouble(text);
                } catch (NumberFormatException e) {
                    throw new Gap.UnansweredException(Gap.Malformed, "\"%s\" is no number".formatted(shown(text)));
                }
            }
        };
    }

    private JsonNode query(String source, String query) throws IOException, InterruptedException {
        PrometheusServer server = servers.get(source);
        if (server == null) {
            throw new Gap.UnansweredException(
                    Gap.NotAsked,
                    "the operator has no source of this name; an administrator adds it by --prometheus-sources");
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + "/api/v1/query"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("User-Agent", "apportion")
                .timeout(TIMEOUT)
                .POST(HttpRequest.BodyPublishers.ofString("timeout=%ds&query=%s"
                        .formatted(TIMEOUT.toSeconds(), URLEncoder.encode(query, StandardCharsets.UTF_8))));
        authorization(server.credentials()).ifPresent(value -> request.header("Authorization", value));
        try (Alarm alarm = new Alarm(TIMEOUT)) {
            HttpResponse<InputStream> response =
                    client(source, server).send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream body = new Bounded(response.body(), MOST_OCTETS)) {
                return data(response.statusCode(), body);
            } catch (IOException e) {
                throw alarm.hasRung() ? new Gap.UnansweredException(Gap.Unreachable, alarm.words()) : e;
            }
        } catch (SSLException e) {
            // The file of authorities may have been replaced.
            clients.remove(source);
            throw e;
        } catch (InterruptedException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e;
            }
            throw new Gap.UnansweredException(Gap.Unreachable, "no whole answer within " + TIMEOUT.toSeconds() + " s");
        }
    }

    private JsonNode data(int status, InputStream body) throws IOException {
        JsonNode answer;
        try {
            answer = json.readTree(body);
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new Gap.UnansweredException(
                    status == HttpURLConnection.HTTP_OK ? Gap.Malformed : Gap.Refused,
                    "HTTP status %d, and no JSON".formatted(status));
        }
        if (status != HttpURLConnection.HTTP_OK
                || !"success".equals(answer.path("status").asText())) {
            throw new Gap.UnansweredException(
                    Gap.Refused,
                    "HTTP status %d: %s"
                            .formatted(status, shown(answer.path("error").asText("no words"))));
        }
        return answer.path("data");
    }

    private static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
    }

    private static Optional<String> authorization(PrometheusServer.Credentials credentials) throws IOException {
        return switch (credentials) {
            case PrometheusServer.Credentials.None none -> Optional.empty();
            case PrometheusServer.Credentials.Token(Path file) -> Optional.of("Bearer " + secret(file));
            case PrometheusServer.Credentials.Password(String user, Path file) ->
                Optional.of("Basic "
                        + Base64.getEncoder()
                                .encodeToString((user + ":" + secret(file)).getBytes(StandardCharsets.UTF_8)));
        };
    }

    /** What a file holds, which no message may show. */
    private static String secret(Path file) throws IOException {
        String text;
        try {
            text = Files.readString(file).strip();
        } catch (IOException e) {
            throw new Gap.UnansweredException(
                    Gap.NotAsked, "its credentials cannot be read: there is no readable file " + file);
        }
        if (text.isEmpty() || !text.chars().allMatch(c -> c >= ' ' && c != DELETE)) {
            throw new Gap.UnansweredException(
                    Gap.NotAsked, "its credentials are empty or have line breaks within: " + file);
        }
        return text;
    }

    private HttpClient client(String source, PrometheusServer server) throws IOException {
        HttpClient known = clients.get(source);
        if (known != null) {
            return known;
        }
        HttpClient.Builder builder = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(TIMEOUT);
        if (server.authority().isPresent()) {
            builder.sslContext(trusting(server.authority().get()));
        }
        HttpClient made = builder.build();
        HttpClient other = clients.putIfAbsent(source, made);
        return other == null ? made : other;
    }

    private static SSLContext trusting(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (Certificate certificate :
                    CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("authority-" + number++, certificate);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("%s holds no certificates that can be read: %s".formatted(file, e.getMessage()), e);
        }
    }

    @Override
    public void close() {
        clients.values().forEach(HttpClient::shutdownNow);
    }
}
