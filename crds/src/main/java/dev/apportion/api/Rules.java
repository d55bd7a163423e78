package dev.apportion.api;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules that a bound or an enumeration cannot express. Each one stands here as the API server checks it (in CEL), with
 * its message; the records check the same in Java, because a manifest that is read from a file never meets an API server.
 */
final class Rules {

    /** An ASCII letter, digit, hyphen or underscore, or anything printable beyond ASCII. */
    private static final String CHARACTER = "[^\\x00-\\x2c\\x2e\\x2f\\x3a-\\x40\\x5b-\\x5e\\x60\\x7b-\\xa0]";

    private static final String LABELS = CHARACTER + "{1,63}(\\." + CHARACTER + "{1,63})*";
    private static final String HOST_NAME_PATTERN = "^" + LABELS + "\\.?$";
    private static final String OWNER_NAME_PATTERN = "^(@|\\*|(\\*\\.)?" + LABELS + ")$";
    private static final String RELATIVE_NAME_PATTERN = "^" + LABELS + "$";
    private static final String PORT_NAME_PATTERN = "^([0-9]-?)*[a-z](-?[a-z0-9])*$";
    private static final String AMOUNT_PATTERN =
            "^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$";

    /** A label as RFC 1123 and Kubernetes define it. */
    static final String NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

    /** The name of an object of Kubernetes: labels with dots. */
    static final String SUBDOMAIN_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

    /** The key of a label, with its prefix if there is one. */
    static final String LABEL_KEY_PATTERN =
            "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$";

    /** The value of a label; it may be empty. */
    static final String LABEL_VALUE_PATTERN = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";

    /** The name of a series as Prometheus defines it. */
    static final String SERIES_PATTERN = "^[a-zA-Z_:][a-zA-Z0-9_:]*$";

    /** The path of a URL, and its query if there is one: visible ASCII. */
    static final String PATH_PATTERN = "^/[!-~]*$";

    static final String HOST_NAME =
            "self.matches(r'" + HOST_NAME_PATTERN + "') && (self.size() <= 253 || self.endsWith('.'))";
    static final String HOST_NAME_MESSAGE =
            "must be a DNS name: labels of 1 to 63 letters, digits, hyphens or underscores, separated by single dots,"
                    + " 253 characters at most, without a wildcard; for example shop.example.org";

    static final String OWNER_NAME = "self.matches(r'" + OWNER_NAME_PATTERN + "')";
    static final String OWNER_NAME_MESSAGE =
            "must be a name below the domain, without the domain and without a trailing dot: for example www or *.dev,"
                    + " or @ for the domain itself";

    static final String RELATIVE_NAME = "self.matches(r'" + RELATIVE_NAME_PATTERN + "')";
    static final String RELATIVE_NAME_MESSAGE =
            "must be a name below the service's host name, without the host name and without a trailing dot:"
                    + " for example alice";

    static final String ADDRESS = "isIP(self)";
    static final String ADDRESS_MESSAGE =
            "must be an IPv4 or IPv6 address, without leading zeros and without a zone index: for example 192.0.2.10"
                    + " or 2001:db8::10";

    static final String SERVER = "isIP(self)"
            + " || (self.matches(r'^([0-9.]+|\\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\\]):[0-9]{1,5}$')"
            + " && isIP(self.substring(0, self.lastIndexOf(':')).replace('[', '').replace(']', ''))"
            + " && int(self.substring(self.lastIndexOf(':') + 1)) >= 1"
            + " && int(self.substring(self.lastIndexOf(':') + 1)) <= 65535)";
    static final String SERVER_MESSAGE =
            "must be the address of a server, with a port unless it is 53: for example 192.0.2.53:53"
                    + " or [2001:db8::53]:53";

    static final String NETWORK = "isCIDR(self) && cidr(self) == cidr(self).masked()";
    static final String NETWORK_MESSAGE =
            "must be an IPv4 or IPv6 network without host bits: for example 10.1.0.0/16 (not 10.1.2.3/16)"
                    + " or 2001:db8::/32";

    static final String AMOUNT = "type(self) == int ? self >= 0 && self <= 1000000000000" + " : self.matches(r'"
            + AMOUNT_PATTERN + "') && !quantity(self).isGreaterThan(quantity('1T'))";
    static final String AMOUNT_MESSAGE =
            "must be a quantity from 0 to 1e12: for example 120, or \"0.5\" or \"500m\" for a half";

    static final String POSITIVE_AMOUNT = "type(self) == int ? self > 0 && self <= 1000000000000"
            + " : self.matches(r'" + AMOUNT_PATTERN + "') && quantity(self).isGreaterThan(quantity('0'))"
            + " && !quantity(self).isGreaterThan(quantity('1T'))";
    static final String POSITIVE_AMOUNT_MESSAGE =
            "must be a quantity above 0 and up to 1e12: for example 100, or \"0.5\" or \"500m\" for a half";

    static final String PORT = "type(self) == int ? self >= 1 && self <= 65535"
            + " : self.size() <= 15 && self.matches(r'" + PORT_NAME_PATTERN + "')";
    static final String PORT_MESSAGE =
            "must be the number of a port, from 1 to 65535, or its name: for example 8080 or metrics";

    static final String UNCHANGED = "self == oldSelf";

    private static final Pattern HOST_NAMES = Pattern.compile(HOST_NAME_PATTERN);
    private static final Pattern OWNER_NAMES = Pattern.compile(OWNER_NAME_PATTERN);
    private static final Pattern RELATIVE_NAMES = Pattern.compile(RELATIVE_NAME_PATTERN);
    private static final Pattern PORT_NAMES = Pattern.compile(PORT_NAME_PATTERN);
    private static final Pattern AMOUNTS = Pattern.compile(AMOUNT_PATTERN);

    private Rules() {}

    /** @throws IllegalArgumentException unless the rule holds */
    static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }

    /** @throws InvalidComponent unless the rule holds for the component's value */
    static void require(boolean holds, String component, @Nullable Object value, String message) {
        if (!holds) {
            throw new InvalidComponent(component, value, message);
        }
    }

    /** @throws InvalidComponent unless the rule holds for the component as a whole */
    static void require(boolean holds, String component, String message) {
        if (!holds) {
            throw new InvalidComponent(component, message);
        }
    }

    /**
     * The value of a required component, which a file may lack whatever the type says.
     *
     * @throws InvalidComponent if it is absent
     */
    static <T> T required(@Nullable T value, String component) {
        if (value == null) {
            throw new InvalidComponent(component, "is required");
        }
        return value;
    }

    /**
     * An immutable copy; empty when the list is absent.
     *
     * @throws InvalidComponent if an item is null
     */
    static <T> List<T> list(@Nullable List<T> items, String component) {
        if (items == null) {
            return List.of();
        }
        for (int i = 0; i < items.size(); i++) {
            required(items.get(i), component + "[" + i + "]");
        }
        return List.copyOf(items);
    }

    /**
     * An immutable copy of a list whose items are known by a key; empty when the list is absent.
     *
     * @throws InvalidComponent if an item is null or two items have the same key
     */
    static <T> List<T> unique(@Nullable List<T> items, Function<T, Object> key, String component) {
        List<T> copy = list(items, component);
        Set<Object> keys = new HashSet<>();
        for (int i = 0; i < copy.size(); i++) {
            Object found = key.apply(copy.get(i));
            require(keys.add(found), component + "[" + i + "]", found, "occurs twice");
        }
        return copy;
    }

    /**
     * An immutable copy of a list without duplicates; empty when the list is absent.
     *
     * @throws InvalidComponent if an item is null or occurs twice
     */
    static <T> List<T> set(@Nullable List<T> items, String component) {
        return unique(items, item -> item, component);
    }

    /** @throws InvalidComponent unless the amount is above 0 */
    static Amount positive(Amount amount, String component) {
        require(amount.isPositive(), component, amount.text(), POSITIVE_AMOUNT_MESSAGE);
        return amount;
    }

    static boolean isHostName(String name) {
        return HOST_NAMES.matcher(name).matches()
                && (name.codePointCount(0, name.length()) <= 253 || name.endsWith("."));
    }

    static boolean isOwnerName(String name) {
        return OWNER_NAMES.matcher(name).matches();
    }

    static boolean isRelativeName(String name) {
        return RELATIVE_NAMES.matcher(name).matches();
    }

    static boolean isPortName(String name) {
        return name.length() <= 15 && PORT_NAMES.matcher(name).matches();
    }

    static boolean isAmount(String text) {
        return AMOUNTS.matcher(text).matches();
    }
}
