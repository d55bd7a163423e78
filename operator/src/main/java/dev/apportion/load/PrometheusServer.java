package dev.apportion.load;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A Prometheus server that the administrator has named.
 *
 * @param url where its API is, without {@code /api/v1}
 * @param authority a file with the certificates of the authorities that its own may come from; empty for those of the Java
 *     runtime
 * @param credentials where the request's credentials are
 */
public record PrometheusServer(URI url, Optional<Path> authority, Credentials credentials) {

    /** What a request shows to be let in. Files are read anew for each request, so that they may be replaced. */
    public sealed interface Credentials {

        record None() implements Credentials {}

        /** A bearer token in a file. */
        record Token(Path file) implements Credentials {}

        /** A user's name, and a password in a file. */
        record Password(String user, Path file) implements Credentials {}
    }
}
