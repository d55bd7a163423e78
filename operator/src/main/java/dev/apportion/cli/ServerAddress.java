package dev.apportion.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code ADDR:PORT}, as {@code 127.0.0.1:5300} or {@code [::1]:5300}. */
final class ServerAddress implements ITypeConverter<InetSocketAddress> {

    private static final int LARGEST_PORT = 65535;

    @Override
    public InetSocketAddress convert(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (port < 0 || port > LARGEST_PORT) {
                throw new IllegalArgumentException("no such port");
            }
            return new InetSocketAddress(InetAddress.ofLiteral(host), port);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(
                    "\"%s\" is no address and port; write, for example, 127.0.0.1:5300".formatted(text));
        }
    }
}
