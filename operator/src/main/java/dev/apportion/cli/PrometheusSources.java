package dev.apportion.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.apportion.load.PrometheusServer;
import dev.apportion.load.PrometheusServer.Credentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The administrator's file of Prometheus servers.
 *
 * <pre>
 * - name: default
 *   url: https://prometheus.monitoring.svc:9090
 *   caFile: /etc/apportion/prometheus/ca.crt
 *   tokenFile: /var/run/secrets/tokens/prometheus
 * </pre>
 */
final class PrometheusSources {

    private PrometheusSources() {}

    /** One entry, as it is written. */
    private record Entry(
            @Nullable String name,
            @Nullable String url,
            @Nullable String caFile,
            @Nullable String tokenFile,
            @Nullable String user,
            @Nullable String passwordFile) {

        PrometheusServer server(String place) {
            URI where = url == null ? null : URI.create(url.replaceAll("/+$", ""));
            if (where == null
                    || where.getHost() == null
                    || where.getUserInfo() != null
                    || where.getQuery() != null
                    || !("http".equals(where.getScheme()) || "https".equals(where.getScheme()))) {
                throw new IllegalArgumentException(
                        "%s: url \"%s\" is no http or https URL of a server; credentials belong into files"
                                .formatted(place, url));
            }
            return new PrometheusServer(where, Optional.ofNullable(caFile).map(Path::of), credentials(place));
        }

        private Credentials credentials(String place) {
            if (tokenFile != null && user == null && passwordFile == null) {
                return new Credentials.Token(Path.of(tokenFile));
            }
            if (tokenFile == null && user != null && passwordFile != null) {
                return new Credentials.Password(user, Path.of(passwordFile));
            }
            if (tokenFile == null && user == null && passwordFile == null) {
                return new Credentials.None();
            }
            throw new IllegalArgumentException(
                    "%s: give tokenFile, or user and passwordFile, or none of them".formatted(place));
        }
    }

    /**
     * Reads the file.
     *
     * @throws IllegalArgumentException if it does not say what it should; the message is for people
     */
    static Map<String, PrometheusServer> read(Path file) {
        List<Entry> entries;
        try {
            entries = List.of(JsonMapper.builder(new YAMLFactory())
                    .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .build()
                    .readValue(Files.readString(file), Entry[].class));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("%s: %s".formatted(file, e.getOriginalMessage()), e);
        } catch (IOException e) {
            throw new IllegalArgumentException("%s cannot be read: %s".formatted(file, e.getMessage()), e);
        }
        Map<String, PrometheusServer> servers = new TreeMap<>();
        for (Entry entry : entries) {
            String name = entry.name();
            if (name == null || !name.matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?")) {
                throw new IllegalArgumentException(
                        "%s: the name \"%s\" is not made of lower-case letters, digits and hyphens"
                                .formatted(file, name));
            }
            if (servers.put(name, entry.server("%s, source %s".formatted(file, name))) != null) {
                throw new IllegalArgumentException("%s: two sources have the name %s".formatted(file, name));
            }
        }
        return servers;
    }
}
