package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A BIND process on a free port of 127.0.0.1, set up as Debian's package does, with DNSSEC validation and a cache; one domain, which
 * the public tree does not have, is forwarded to an authoritative server.
 */
public final class Bind implements AutoCloseable {

    private final LoopbackServer server;

    private Bind(LoopbackServer server) {
        this.server = server;
    }

    /**
     * Starts BIND; the calling test is skipped if it is not installed and cannot be.
     *
     * @param authoritative the port of 127.0.0.1 at which the domain is served
     */
    public static Bind forwarding(String domain, int authoritative) throws IOException {
        Path program = DebianPackage.BIND.orSkip();
        return new Bind(LoopbackServer.start("named", List.of(program.toString(), "-g", "-c"), (folder, port) ->
                """
                options {
                  directory "%1$s";
                  managed-keys-directory "%1$s";
                  pid-file none;
                  session-keyfile none;
                  listen-on port %2$d { 127.0.0.1; };
                  listen-on-v6 { none; };
                  dnssec-validation auto;
                  validate-except { "%3$s"; };
                };
                controls { };
                zone "%3$s" {
                  type forward;
                  forward only;
                  forwarders { 127.0.0.1 port %4$d; };
                };
                """.formatted(folder, port, domain, authoritative)));
    }

    /** This server, to be asked. */
    public DnsServer server() {
        return server.server();
    }

    public int port() {
        return server.port();
    }

    public String log() {
        return server.log();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
