package dev.apportion.records;

import inet.ipaddr.AddressStringException;
import inet.ipaddr.AddressStringParameters.RangeParameters;
import inet.ipaddr.IPAddress;
import inet.ipaddr.IPAddressString;
import inet.ipaddr.IPAddressStringParameters;
import inet.ipaddr.IncompatibleAddressException;
import java.util.regex.Pattern;

/** Reads IP addresses and address blocks, without guesses and without look-ups. */
public final class Addresses {

    private static final IPAddressStringParameters ADDRESS = parameters(false);
    private static final IPAddressStringParameters BLOCK = parameters(true);

    /** A decimal part that some readers take for octal. */
    private static final Pattern LEADING_ZERO = Pattern.compile("(^|.*\\.)0[0-9]+(\\..*|/.*|$)");

    /** Keeps out what the library also takes: spaces around, wildcards, ranges, zone indexes, a prefix length of 08. */
    private static final Pattern CHARACTERS = Pattern.compile("[0-9a-fA-F:.]+(/(0|[1-9][0-9]*))?");

    /** The prefix of IPv4-mapped addresses, ::ffff:0:0/96 (RFC 4291, section 2.5.5.2), in bits. */
    private static final int MAPPED_PREFIX = 96;

    private Addresses() {}

    /** Reads one address: dotted decimal IPv4 without leading zeros, or IPv6 (RFC 4291) without a zone index. */
    public static Parsed<IPAddress> parse(String text) {
        try {
            IPAddress address =
                    CHARACTERS.matcher(text).matches() ? new IPAddressString(text, ADDRESS).toAddress() : null;
            if (address == null) {
                return notAnAddress(text, "write an IPv4 or IPv6 address, such as 192.0.2.10 or 2001:db8::10");
            }
            return isMapped(address)
                    ? notAnAddress(text, "it is an IPv4 address in IPv6 clothes; write it as IPv4")
                    : new Parsed.Value<>(address);
        } catch (AddressStringException | IncompatibleAddressException e) {
            return notAnAddress(text, advice(text));
        }
    }

    /** Reads one address block in CIDR notation (RFC 4632) whose host bits are zero. */
    public static Parsed<IPAddress> parseBlock(String text) {
        try {
            IPAddress block = CHARACTERS.matcher(text).matches() ? new IPAddressString(text, BLOCK).toAddress() : null;
            if (block == null || block.getNetworkPrefixLength() == null) {
                return notABlock(text, "write an address and a prefix length, such as 10.1.0.0/16 or 2001:db8::/32");
            }
            if (!block.isPrefixBlock()) {
                return notABlock(
                        text,
                        "it has host bits; maybe the block %s is meant"
                                .formatted(block.toPrefixBlock().toCanonicalString()));
            }
            if (isMapped(block.getLower()) && block.getNetworkPrefixLength() >= MAPPED_PREFIX) {
                return notABlock(text, "these are IPv4 addresses in IPv6 clothes; write the block as IPv4");
            }
            return new Parsed.Value<>(block);
        } catch (AddressStringException | IncompatibleAddressException e) {
            return notABlock(text, advice(text));
        }
    }

    private static boolean isMapped(IPAddress address) {
        return address.isIPv6() && address.toIPv6().isIPv4Mapped();
    }

    private static String advice(String text) {
        return LEADING_ZERO.matcher(text).matches()
                ? "a leading zero may mean octal or decimal; write the parts without it"
                : "write dotted decimal IPv4 with parts up to 255, or IPv6 without a zone index";
    }

    private static <T> Parsed<T> notAnAddress(String text, String why) {
        return new Parsed.Invalid<>("\"%s\" is not an IP address: %s".formatted(text, why));
    }

    private static <T> Parsed<T> notABlock(String text, String why) {
        return new Parsed.Invalid<>("\"%s\" is not an address block: %s".formatted(text, why));
    }

    private static IPAddressStringParameters parameters(boolean block) {
        return new IPAddressStringParameters.Builder()
                .allowEmpty(false)
                .allowAll(false)
                .allowSingleSegment(false)
                .allowMask(false)
                .allowPrefix(block)
                .allowPrefixOnly(false)
                .setRangeOptions(RangeParameters.NO_RANGE)
                .getIPv4AddressParametersBuilder()
                .allow_inet_aton(false)
                .allowLeadingZeros(false)
                .allowBinary(false)
                .getParentBuilder()
                .getIPv6AddressParametersBuilder()
                .allowZone(false)
                .allowBase85(false)
                .allowBinary(false)
                .getParentBuilder()
                .toParams();
    }
}
