package dev.apportion.cli;

import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code ADDR:PORT}, as {@code 127.0.0.1:5300} or {@code [::1]:5300}. */
final class ServerAddress implements ITypeConverter<InetSocketAddress> {

    private static final int LARGEST_PORT = 65535;

    private static final Pattern FORM =
            Pattern.compile("(?:([0-9.]+)|\\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)]):([0-9]{1,5})");

    @Override
    public InetSocketAddress convert(String text) {
        Matcher form = FORM.matcher(text);
        if (form.matches()
                && Integer.parseInt(form.group(3)) <= LARGEST_PORT
                && Addresses.parse(form.group(1) != null ? form.group(1) : form.group(2))
                        instanceof Parsed.Value<IPAddress>(IPAddress address)) {
            return new InetSocketAddress(address.toInetAddress(), Integer.parseInt(form.group(3)));
        }
        throw new TypeConversionException(
                "\"%s\" is no address and port; write, for example, 127.0.0.1:5300 or [::1]:5300".formatted(text));
    }
}
