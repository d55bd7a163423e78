package dev.apportion.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A DNS server, by name or address, as people write it: {@code 192.0.2.53}, {@code dns.example.org:5300} or {@code [::1]:53}.
 *
 * @param port 53 unless it is written
 */
record ServerName(String host, int port) {

    private static final int LARGEST_PORT = 65535;
    private static final int DNS = 53;

    private static final Pattern FORM =
            Pattern.compile("(?:([A-Za-z0-9._-]+)|\\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)])(?::([0-9]{1,5}))?");

    /** A server whose address is known. */
    static ServerName of(InetSocketAddress server) {
        return new ServerName(server.getAddress().getHostAddress(), server.getPort());
    }

    /** Looks the name up. */
    InetSocketAddress resolve() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** Reads one. */
    static final class Converter implements ITypeConverter<ServerName> {

        @Override
        public ServerName convert(String text) {
            Matcher form = FORM.matcher(text);
            if (form.matches()) {
                int port = form.group(3) == null ? DNS : Integer.parseInt(form.group(3));
                if (port >= 1 && port <= LARGEST_PORT) {
                    return new ServerName(form.group(1) == null ? form.group(2) : form.group(1), port);
                }
            }
            throw new TypeConversionException(
                    "\"%s\" is no server; write, for example, 192.0.2.53, dns.example.org:5300 or [::1]:53"
                            .formatted(text));
        }
    }
}
