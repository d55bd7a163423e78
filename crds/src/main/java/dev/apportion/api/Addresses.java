package dev.apportion.api;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Addresses, networks and servers as text, read as strictly as the API server reads them, and never looked up. */
final class Addresses {

    private static final int DNS_PORT = 53;
    private static final int MAX_PORT = 65535;
    private static final Pattern IPV4 = Pattern.compile(
            "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}");
    private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*");
    private static final Pattern SERVER = Pattern.compile("(?:([0-9.]+)|\\[([0-9A-Fa-f:.]+)\\]):([0-9]{1,5})");
    private static final Pattern PREFIX_LENGTH = Pattern.compile("0|[1-9][0-9]{0,2}");

    private Addresses() {}

    static boolean isAddress(String text) {
        return isIpv4(text) || isIpv6(text);
    }

    /** Whether the text is a network whose host bits are all zero. */
    static boolean isNetwork(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            return false;
        }
        String address = text.substring(0, slash);
        String length = text.substring(slash + 1);
        if (!isAddress(address) || !PREFIX_LENGTH.matcher(length).matches()) {
            return false;
        }
        byte[] bytes = InetAddress.ofLiteral(address).getAddress();
        int prefix = Integer.parseInt(length);
        if (prefix > bytes.length * Byte.SIZE) {
            return false;
        }
        for (int bit = prefix; bit < bytes.length * Byte.SIZE; bit++) {
            if ((bytes[bit / Byte.SIZE] >> (Byte.SIZE - 1 - bit % Byte.SIZE) & 1) != 0) {
                return false;
            }
        }
        return true;
    }

    /** The address of a server with its port, 53 if none is given. */
    private static String server(String component, String text) {
        if (isIpv4(text)) {
            return text + ":" + DNS_PORT;
        }
        if (isIpv6(text)) {
            return "[" + text + "]:" + DNS_PORT;
        }
        Matcher server = SERVER.matcher(text);
        Rules.require(
                server.matches()
                        && (server.group(1) != null ? isIpv4(server.group(1)) : isIpv6(server.group(2)))
                        && isPort(Integer.parseInt(server.group(3))),
                component,
                text,
                Rules.SERVER_MESSAGE);
        return text;
    }

    /**
     * An immutable copy of addresses of servers, each with its port, 53 if none is given.
     *
     * @throws IllegalArgumentException if one is neither an address nor an address with a port
     */
    static List<String> servers(List<String> texts) {
        List<String> copy = Rules.set(texts, "addresses");
        List<String> servers = new ArrayList<>();
        for (int i = 0; i < copy.size(); i++) {
            servers.add(server("addresses[" + i + "]", copy.get(i)));
        }
        return List.copyOf(servers);
    }

    /** An immutable copy of addresses; empty when the list is absent. */
    static List<String> list(@Nullable List<String> texts) {
        List<String> copy = Rules.set(texts, "addresses");
        for (int i = 0; i < copy.size(); i++) {
            Rules.require(isAddress(copy.get(i)), "addresses[" + i + "]", copy.get(i), Rules.ADDRESS_MESSAGE);
        }
        return copy;
    }

    static boolean isPort(long port) {
        return port >= 1 && port <= MAX_PORT;
    }

    private static boolean isIpv4(String text) {
        return IPV4.matcher(text).matches();
    }

    private static boolean isIpv6(String text) {
        if (!IPV6.matcher(text).matches()) {
            return false;
        }
        try {
            // An IPv4 address in IPv6's clothes (::ffff:192.0.2.1) is read as the former.
            return InetAddress.ofLiteral(text) instanceof Inet6Address;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }
}
