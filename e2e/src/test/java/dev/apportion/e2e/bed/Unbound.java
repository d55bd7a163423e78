package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * An Unbound process on a free port of 127.0.0.1, set up as Debian's package does, with DNSSEC validation, a cache and query
 * minimisation; one domain, which the public tree does not have, is forwarded to an authoritative server.
 */
public final class Unbound implements AutoCloseable {

    private static final Path TRUST_ANCHOR = Path.of("/usr/share/dns/root.key");

    private final LoopbackServer server;

    private Unbound(LoopbackServer server) {
        this.server = server;
    }

    /**
     * Starts Unbound; the calling test is skipped if it is not installed and cannot be.
     *
     * @param authoritative the port of 127.0.0.1 at which the domain is served
     */
    public static Unbound forwarding(String domain, int authoritative) throws IOException {
        return start(domain, """
            forward-zone:
              name: "%s."
              forward-addr: 127.0.0.1@%d
            """.formatted(domain, authoritative));
    }

    /** Starts Unbound, which does not cache what lies below the domain. */
    public static Unbound forwardingUncached(String domain, int authoritative) throws IOException {
        return start(domain, """
            forward-zone:
              name: "%s."
              forward-addr: 127.0.0.1@%d
              forward-no-cache: yes
            """.formatted(domain, authoritative));
    }

    private static Unbound start(String domain, String zone) throws IOException {
        Path program = DebianPackage.UNBOUND.orSkip();
        String anchor = Files.isReadable(TRUST_ANCHOR) ? "  trust-anchor-file: \"" + TRUST_ANCHOR + "\"\n" : "";
        return new Unbound(LoopbackServer.start("unbound", List.of(program.toString(), "-d", "-c"), (folder, port) ->
                """
                server:
                  directory: "%s"
                  chroot: ""
                  username: ""
                  pidfile: ""
                  use-syslog: no
                  interface: 127.0.0.1
                  port: %d
                  do-ip6: no
                  do-not-query-localhost: no
                  domain-insecure: "%s."
                %s%s\
                """.formatted(folder, port, domain, anchor, zone)));
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
