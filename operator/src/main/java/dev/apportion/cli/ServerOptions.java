package dev.apportion.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The DNS servers that a command asks. */
final class ServerOptions {

    @Option(
            names = "--server",
            paramLabel = "HOST[:PORT]",
            converter = ServerName.Converter.class,
            description = "A DNS server to ask; where a command asks several, once for each.")
    private List<ServerName> servers = new ArrayList<>();

    List<ServerName> servers() {
        return List.copyOf(servers);
    }
}
