package dev.apportion.e2e.bed;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.xbill.DNS.Type;

/**
 * A PowerDNS authoritative server on free ports of 127.0.0.1, with LUA records and the clients of EDNS Client Subnet switched on, whose
 * zones stand in a temporary file and are changed by its HTTP interface.
 */
public final class PowerDns implements AutoCloseable {

    private static final Path SCHEMA = Path.of("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql");
    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration PROBE = Duration.ofMillis(500);

    /** Whoever knows it may change zones. */
    public static final String KEY = "only-on-loopback";

    private final Path folder;
    private final ServerProcess process;
    private final int port;
    private final int http;
    private final HttpClient client = HttpClient.newHttpClient();

    private PowerDns(Path folder, ServerProcess process, int port, int http) {
        this.folder = folder;
        this.process = process;
        this.port = port;
        this.http = http;
    }

    /** Starts PowerDNS without zones; the calling test is skipped if it is not installed and cannot be. */
    public static PowerDns start() throws IOException {
        Path program = DebianPackage.POWERDNS.orSkip();
        Path sqlite = DebianPackage.SQLITE.orSkip();
        Path folder = Files.createTempDirectory("apportion-pdns-");
        Path database = folder.resolve("pdns.sqlite3");
        Command.of(List.of(sqlite.toString(), database.toString(), ".read " + SCHEMA))
                .run()
                .orThrow();
        int port = LoopbackPorts.free();
        int http = LoopbackPorts.free();
        Files.writeString(folder.resolve("pdns.conf"), """
            launch=gsqlite3
            gsqlite3-database=%s
            local-address=127.0.0.1
            local-port=%d
            enable-lua-records=yes
            edns-subnet-processing=yes
            api=yes
            api-key=%s
            webserver=yes
            webserver-address=127.0.0.1
            webserver-port=%d
            socket-dir=%s
            security-poll-suffix=
            guardian=no
            daemon=no
            """.formatted(database, port, KEY, http, folder));
        PowerDns server = new PowerDns(
                folder,
                ServerProcess.start(
                        "pdns_server",
                        List.of(program.toString(), "--config-dir=" + folder),
                        folder,
                        Map.of(),
                        folder.resolve("log")),
                port,
                http);
        try {
            Question probe = Question.of("example", Type.SOA).within(PROBE);
            server.process.await("answer", START, () -> server.server().answers(probe));
        } catch (AssertionError e) {
            server.close();
            throw e;
        }
        return server;
    }

    /** Where zones are changed. */
    public String url() {
        return "http://127.0.0.1:" + http;
    }

    public DnsServer server() {
        return new DnsServer(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
    }

    public int port() {
        return port;
    }

    public String log() {
        return process.log();
    }

    /** Makes an empty zone. */
    public void createZone(String domain) throws IOException {
        send("POST", "", "{\"name\":\"%1$s.\",\"kind\":\"Native\",\"nameservers\":[\"ns.%1$s.\"]}".formatted(domain));
    }

    /** Sets the records of a name and type, as JSON texts. */
    public void replace(String domain, String name, String type, String content) throws IOException {
        send(
                "PATCH",
                "/" + domain + ".",
                "{\"rrsets\":[{\"name\":\"%s.\",\"type\":\"%s\",\"ttl\":5,\"changetype\":\"REPLACE\",\"records\":[{\"content\":%s,\"disabled\":false}]}]}"
                        .formatted(name, type, content));
    }

    /** A zone with all of its records, as the HTTP interface gives it. */
    public String zone(String domain) throws IOException {
        return send("GET", "/" + domain + ".", "");
    }

    private String send(String method, String path, String body) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url() + "/api/v1/servers/localhost/zones" + path))
                .header("X-API-Key", KEY)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() >= 300) {
                throw new IOException(response.statusCode() + " " + response.body());
            }
            return response.body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted", e);
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
        process.close();
        Folders.delete(folder);
    }
}
