package dev.apportion.records;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.TXTRecord;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/** Reads the records that people declare, and finds what contradicts among them. */
public final class FixedRecords {

    /** The types that can be declared: those that need nothing from the server but to be served. */
    private static final Map<String, Integer> TYPES = types(
            "A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SMIMEA", "SRV", "SSHFP", "SVCB", "TLSA",
            "TXT", "URI");

    /** What a string within a TXT record may hold, in bytes (RFC 1035, section 3.3). */
    private static final int STRING_BYTES = 255;

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");
    private static final Pattern NOT_ASCII = Pattern.compile("[^\\x00-\\x7f]");
    private static final Pattern FIELD = Pattern.compile("[^ ]+");

    /** Where a name stands among the fields of a type's data, counted from zero. */
    private static final Map<String, Integer> NAME_FIELDS =
            Map.of("CNAME", 0, "NS", 0, "PTR", 0, "MX", 1, "SRV", 3, "HTTPS", 1, "SVCB", 1);

    private FixedRecords() {}

    /** A record that cannot be served beside others, and why. */
    public record Conflict(FixedRecord value, String problem) {}

    /**
     * Reads one record as a zone file of the domain would: in the value, a name without a trailing dot is relative to
     * the domain. A TXT value without quotes is one string, whatever it holds.
     *
     * @param domain the domain, canonical
     * @param name the owner: {@code @} for the domain, a name below it, or one relative to it
     * @param type the type's mnemonic
     * @param ttlSeconds the time to live, in seconds
     * @param value the record data in presentation format
     */
    public static Parsed<FixedRecord> parse(String domain, String name, String type, int ttlSeconds, String value) {
        String mnemonic = type.strip().toUpperCase(Locale.ROOT);
        Integer number = TYPES.get(mnemonic);
        if (number == null) {
            return new Parsed.Invalid<>("records of type %s cannot be declared; these can: %s"
                    .formatted(type, String.join(" ", TYPES.keySet())));
        }
        if (ttlSeconds < 0) {
            return new Parsed.Invalid<>("the time to live %d is below zero".formatted(ttlSeconds));
        }
        return switch (owner(domain, name)) {
            case Parsed.Invalid<String>(String problem) -> new Parsed.Invalid<>(problem);
            case Parsed.Value<String>(String owner) -> {
                if (owner.equals(domain) && number == Type.CNAME) {
                    yield new Parsed.Invalid<>("%s cannot be a CNAME: it has SOA and NS records".formatted(domain));
                }
                if (owner.equals(domain) && number == Type.NS) {
                    yield new Parsed.Invalid<>(
                            "the name servers of %s itself are not declared as records".formatted(domain));
                }
                try {
                    Name origin = Name.fromString(domain + ".");
                    Record read = record(
                            Name.fromString(owner + "."),
                            number,
                            ttlSeconds,
                            withCanonicalName(mnemonic, value),
                            origin);
                    yield new Parsed.Value<>(new FixedRecord(owner, mnemonic, ttlSeconds, data(read)));
                } catch (IOException | RuntimeException e) {
                    yield new Parsed.Invalid<>("%s is not the data of a record of type %s: %s"
                            .formatted(value, mnemonic, withoutPlace(e.getMessage())));
                }
            }
        };
    }

    /** The parser names a file and a line, and there are none. */
    private static String withoutPlace(@Nullable String message) {
        return String.valueOf(message).replaceFirst("^<none>:\\d+: ", "");
    }

    /** The record that DNS serves for a fixed one. */
    public static Record toRecord(FixedRecord fixed) throws IOException {
        Integer number = TYPES.get(fixed.type());
        if (number == null) {
            throw new IOException("records of type " + fixed.type() + " cannot be served");
        }
        return Record.fromString(
                Name.fromString(fixed.name() + "."), number, DClass.IN, fixed.ttlSeconds(), fixed.value(), Name.root);
    }

    /** The records of a zone that cannot be served: a CNAME beside others, or data of a host that is a CNAME itself. */
    public static List<Conflict> conflicts(ZoneRecords zone) {
        Map<String, Integer> cnames = new HashMap<>();
        Map<String, Integer> all = new HashMap<>();
        for (FixedRecord fixed : zone.fixedRecords()) {
            all.merge(fixed.name(), 1, Integer::sum);
            if (fixed.type().equals("CNAME")) {
                cnames.merge(fixed.name(), 1, Integer::sum);
            }
        }
        Set<String> hosts = new HashSet<>();
        zone.hosts().forEach(host -> hosts.add(host.name()));
        List<Conflict> conflicts = new ArrayList<>();
        for (FixedRecord fixed : zone.fixedRecords()) {
            boolean address = fixed.type().equals("A") || fixed.type().equals("AAAA");
            if (cnames.containsKey(fixed.name()) && all.getOrDefault(fixed.name(), 0) > 1) {
                conflicts.add(
                        new Conflict(fixed, "%s has a CNAME record, so it can have no other".formatted(fixed.name())));
            } else if (hosts.contains(fixed.name()) && (address || !fixed.name().equals(zone.domain()))) {
                conflicts.add(new Conflict(
                        fixed,
                        "%s is the host name of a service, so it cannot have a fixed %s record"
                                .formatted(fixed.name(), fixed.type())));
            } else if (cnames.containsKey(fixed.name())
                    && zone.nameServers().stream()
                            .anyMatch(server -> server.name().equals(fixed.name()))) {
                conflicts.add(
                        new Conflict(fixed, "%s is a name server, so it cannot be a CNAME".formatted(fixed.name())));
            }
        }
        return conflicts;
    }

    /** The data with the name in it as every name is: in lower case, in A-labels. */
    private static String withCanonicalName(String type, String value) throws IOException {
        Integer field = NAME_FIELDS.get(type);
        Matcher fields = FIELD.matcher(value);
        for (int i = 0; field != null && fields.find(); i++) {
            if (i == field) {
                return value.substring(0, fields.start())
                        + canonicalName(fields.group())
                        + value.substring(fields.end());
            }
        }
        return value;
    }

    private static String canonicalName(String name) throws IOException {
        if (!NOT_ASCII.matcher(name).find()) {
            return name.toLowerCase(Locale.ROOT);
        }
        return switch (DomainNames.parse(name)) {
            case Parsed.Value<String>(String canonical) -> name.endsWith(".") ? canonical + "." : canonical;
            case Parsed.Invalid<String>(String problem) -> throw new TextParseException(problem);
        };
    }

    private static Record record(Name owner, int type, int ttlSeconds, String value, Name origin) throws IOException {
        if (type == Type.TXT && !value.stripLeading().startsWith("\"")) {
            return new TXTRecord(owner, DClass.IN, ttlSeconds, strings(value));
        }
        if (CONTROL.matcher(value).find()) {
            throw new TextParseException("it holds a control character");
        }
        if (type != Type.TXT && NOT_ASCII.matcher(value).find()) {
            throw new TextParseException("it holds other characters than ASCII; maybe write them as \\DDD");
        }
        if (hasComment(value)) {
            throw new TextParseException("it holds a comment");
        }
        return Record.fromString(owner, type, DClass.IN, ttlSeconds, value, origin);
    }

    /** The data in presentation format, each string of a TXT record in quotes. */
    private static String data(Record parsed) {
        return parsed instanceof TXTRecord text
                ? text.getStringsAsByteArrays().stream()
                        .map(string -> "\"" + escape(string) + "\"")
                        .collect(Collectors.joining(" "))
                : parsed.rdataToString();
    }

    /** The strings that a text has to be cut into, in presentation format. */
    private static List<String> strings(String value) {
        byte[] text = value.getBytes(UTF_8);
        List<String> strings = new ArrayList<>();
        for (int from = 0; from == 0 || from < text.length; from += STRING_BYTES) {
            strings.add(escape(Arrays.copyOfRange(text, from, Math.min(text.length, from + STRING_BYTES))));
        }
        return strings;
    }

    private static String escape(byte[] string) {
        StringBuilder escaped = new StringBuilder();
        for (byte b : string) {
            int octet = b & 0xff;
            if (octet < ' ' || octet > '~') {
                escaped.append('\\').append("%03d".formatted(octet));
            } else if (octet == '"' || octet == '\\') {
                escaped.append('\\').append((char) octet);
            } else {
                escaped.append((char) octet);
            }
        }
        return escaped.toString();
    }

    private static boolean hasComment(String value) {
        boolean quoted = false;
        for (int i = 0; i < value.length(); i++) {
            switch (value.charAt(i)) {
                case '\\' -> i++;
                case '"' -> quoted = !quoted;
                case ';' -> {
                    if (!quoted) {
                        return true;
                    }
                }
                default -> {}
            }
        }
        return false;
    }

    private static Parsed<String> owner(String domain, String name) {
        if (name.equals("@")) {
            return new Parsed.Value<>(domain);
        }
        return switch (DomainNames.parseOwner(name)) {
            case Parsed.Invalid<String> invalid -> invalid;
            case Parsed.Value<String>(String absolute)
            when DomainNames.isWithin(absolute, domain) -> outsideSlots(domain, absolute);
            case Parsed.Value<String> _
            when name.endsWith(".") ->
                new Parsed.Invalid<>("%s is not a name of a record: it does not lie within %s".formatted(name, domain));
            case Parsed.Value<String>(String relative) ->
                switch (DomainNames.parseOwner(relative + "." + domain)) {
                    case Parsed.Invalid<String> invalid -> invalid;
                    case Parsed.Value<String>(String owner) -> outsideSlots(domain, owner);
                };
        };
    }

    private static Parsed<String> outsideSlots(String domain, String owner) {
        String slots = "_s." + domain;
        return DomainNames.isWithin(owner, slots)
                ? new Parsed.Invalid<>(
                        "%s is not a name of a record: names below %s belong to the slots of weighted answers"
                                .formatted(owner, slots))
                : new Parsed.Value<>(owner);
    }

    private static Map<String, Integer> types(String... mnemonics) {
        Map<String, Integer> types = new TreeMap<>();
        for (String mnemonic : mnemonics) {
            types.put(mnemonic, Type.value(mnemonic));
        }
        return types;
    }
}
