package dev.apportion.health;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Asks an endpoint once, on a new connection.
 *
 * <p>Only the status line of a response is read (RFC 9112, section 4). The JDK's HTTP client cannot ask one address for
 * another's name: neither the Host header nor the name in TLS can be chosen for a request.
 */
final class Checker {

    /** A status line is shorter; whoever sends more without a line end does not speak HTTP. */
    private static final int MOST_OCTETS = 4096;

    private static final Pattern STATUS_LINE = Pattern.compile("HTTP/\\d(?:\\.\\d)? (\\d{3})(?: .*)?");
    private static final int FIRST_GOOD = 200;
    private static final int FIRST_BAD = 400;

    private final SSLSocketFactory tls;

    Checker() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new Anybody()}, new SecureRandom());
            tls = context.getSocketFactory();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has TLS", e);
        }
    }

    CheckResult check(Target target) {
        HealthCheck check = target.check();
        Deadline deadline = new Deadline(System.nanoTime() + check.timeout().toNanos());
        InetSocketAddress address =
                new InetSocketAddress(target.address(), check.question().port());
        try (Socket socket = new Socket()) {
            socket.connect(address, deadline.millisLeft());
            return switch (check.question()) {
                case HealthCheck.Question.Tcp tcp -> new CheckResult.Passed();
                case HealthCheck.Question.Http http
                when http.tls() -> {
                    try (SSLSocket encrypted = encrypted(socket, address, http, deadline)) {
                        yield ask(encrypted, address, http, deadline);
                    }
                }
                case HealthCheck.Question.Http http -> ask(socket, address, http, deadline);
            };
        } catch (SocketTimeoutException e) {
            return failed(address, "no answer within " + seconds(check.timeout()));
        } catch (IOException e) {
            return failed(address, e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage());
        }
    }

    /** A point in time, in nanoseconds of the monotonic clock. */
    private record Deadline(long nanos) {

        int millisLeft() throws SocketTimeoutException {
            long left = Duration.ofNanos(nanos - System.nanoTime()).toMillis();
            if (left < 1) {
                throw new SocketTimeoutException("too late");
            }
            return (int) left;
        }
    }

    private SSLSocket encrypted(
            Socket socket, InetSocketAddress address, HealthCheck.Question.Http http, Deadline deadline)
            throws IOException {
        String name = http.host().orElse(address.getAddress().getHostAddress());
        SSLSocket encrypted = (SSLSocket) tls.createSocket(socket, name, address.getPort(), true);
        SSLParameters parameters = encrypted.getSSLParameters();
        parameters.setServerNames(http.host()
                .<List<javax.net.ssl.SNIServerName>>map(host -> List.of(new SNIHostName(host)))
                .orElse(List.of()));
        encrypted.setSSLParameters(parameters);
        encrypted.setSoTimeout(deadline.millisLeft());
        encrypted.startHandshake();
        return encrypted;
    }

    private static CheckResult ask(
            Socket socket, InetSocketAddress address, HealthCheck.Question.Http http, Deadline deadline)
            throws IOException {
        String request =
                "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: apportion\r\nAccept: */*\r\nConnection: close\r\n\r\n"
                        .formatted(http.path(), http.host().orElseGet(() -> authority(address)));
        socket.getOutputStream().write(request.getBytes(ISO_8859_1));
        String line = firstLine(socket, deadline);
        Matcher status = STATUS_LINE.matcher(line);
        if (!status.matches()) {
            return failed(address, "no HTTP response, but \"%s\"".formatted(printable(line)));
        }
        int code = Integer.parseInt(status.group(1));
        return code >= FIRST_GOOD && code < FIRST_BAD
                ? new CheckResult.Passed()
                : failed(address, "status %d of %s".formatted(code, http.path()));
    }

    private static String firstLine(Socket socket, Deadline deadline) throws IOException {
        InputStream in = socket.getInputStream();
        byte[] octets = new byte[MOST_OCTETS];
        int count = 0;
        while (count < octets.length) {
            socket.setSoTimeout(deadline.millisLeft());
            int read = in.read(octets, count, octets.length - count);
            if (read < 0) {
                break;
            }
            for (int i = count; i < count + read; i++) {
                if (octets[i] == '\n') {
                    return new String(octets, 0, i, ISO_8859_1).stripTrailing();
                }
            }
            count += read;
        }
        return new String(octets, 0, count, ISO_8859_1);
    }

    private static String authority(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return "%s:%d".formatted(host.indexOf(':') >= 0 ? "[" + host + "]" : host, address.getPort());
    }

    private static String printable(String line) {
        String start = line.substring(0, Math.min(line.length(), 40));
        return start.replaceAll("[^ -~]", "?");
    }

    private static String seconds(Duration timeout) {
        return String.format(Locale.ROOT, "%.3g s", timeout.toMillis() / 1000.0);
    }

    private static CheckResult failed(InetSocketAddress address, String reason) {
        return new CheckResult.Failed("%s: %s".formatted(authority(address), reason));
    }

    /** Who answers a health check is not asked, as little as the kubelet asks it of pods. */
    private static final class Anybody extends X509ExtendedTrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
