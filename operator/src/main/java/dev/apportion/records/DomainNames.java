package dev.apportion.records;

import java.net.IDN;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Domain names in their canonical form: lower case, A-labels (RFC 5890), no trailing dot. */
public final class DomainNames {

    /** RFC 1035, section 2.3.4, without the root label and the length octets. */
    private static final int MAX_NAME = 253;

    private static final int MAX_LABEL = 63;

    /** Letters, digits and hyphens (RFC 1123, section 2.1), and the underscore of service labels (RFC 8552). */
    private static final Pattern LABEL = Pattern.compile("[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?");

    private static final String WILDCARD = "*";

    /** What the two standards of internationalised names read differently: RFC 3490 as other letters, RFC 5891 as themselves. */
    private static final Pattern AMBIGUOUS = Pattern.compile("[\\u00df\\u1e9e\\u03c2\\u200c\\u200d]");

    private DomainNames() {}

    /**
     * Reads a domain name.
     *
     * @param text the name; upper case, U-labels and a trailing dot are normalised
     * @return the canonical name
     */
    public static Parsed<String> parse(String text) {
        return parse(text, false);
    }

    /**
     * Reads the owner of a record: a domain name, or a wildcard, whose first label is {@code *} (RFC 4592).
     *
     * @param text the name; upper case, U-labels and a trailing dot are normalised
     * @return the canonical name
     */
    public static Parsed<String> parseOwner(String text) {
        return parse(text, true);
    }

    private static Parsed<String> parse(String text, boolean wildcards) {
        String bare = text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
        if (bare.isEmpty()) {
            return invalid(text, "a domain name is required, such as shop.example.org");
        }
        for (String label : bare.split("\\.", -1)) {
            if (label.isEmpty()) {
                return invalid(text, "it has an empty label (two dots in a row, or a dot in front)");
            }
        }
        if (AMBIGUOUS.matcher(bare).find()) {
            return invalid(
                    text,
                    "\u00df, \u03c2 and joiners are another name to older programs than to newer ones; write the"
                            + " A-label (xn--...) that is meant");
        }
        String ascii;
        try {
            ascii = IDN.toASCII(bare, IDN.ALLOW_UNASSIGNED).toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException e) {
            return invalid(
                    text,
                    longLabel(bare)
                            .map(DomainNames::labelTooLong)
                            .orElse("it cannot be written in A-labels: " + e.getMessage()));
        }
        Optional<String> longLabel = longLabel(ascii);
        if (longLabel.isPresent()) {
            return invalid(text, labelTooLong(longLabel.get()));
        }
        if (ascii.length() > MAX_NAME) {
            return invalid(text, "it has %d characters, %d are possible".formatted(ascii.length(), MAX_NAME));
        }
        boolean wildcard = wildcards && (ascii.equals(WILDCARD) || ascii.startsWith(WILDCARD + "."));
        String[] labels = ascii.split("\\.", -1);
        for (String label : Arrays.asList(labels).subList(wildcard ? 1 : 0, labels.length)) {
            if (wildcards && label.contains(WILDCARD)) {
                return invalid(text, "a * is possible as the whole first label only");
            }
            if (!LABEL.matcher(label).matches()) {
                return invalid(
                        text,
                        "the label \"%s\" may hold letters, digits, hyphens (not at its ends) and underscores only"
                                .formatted(label));
            }
        }
        return new Parsed.Value<>(ascii);
    }

    /** Says whether the name equals the domain or lies below it; both canonical. */
    public static boolean isWithin(String name, String domain) {
        return name.equals(domain) || isBelow(name, domain);
    }

    /** Says whether the name lies below the domain, and is not the domain itself; both canonical. */
    public static boolean isBelow(String name, String domain) {
        return name.length() > domain.length()
                && name.endsWith(domain)
                && name.charAt(name.length() - domain.length() - 1) == '.';
    }

    private static Optional<String> longLabel(String name) {
        return Arrays.stream(name.split("\\.", -1))
                .filter(label -> label.length() > MAX_LABEL)
                .findFirst();
    }

    private static String labelTooLong(String label) {
        return "the label \"%s\" has %d characters, %d are possible".formatted(label, label.length(), MAX_LABEL);
    }

    private static Parsed<String> invalid(String text, String why) {
        return new Parsed.Invalid<>("\"%s\" is not a domain name: %s".formatted(text, why));
    }
}
