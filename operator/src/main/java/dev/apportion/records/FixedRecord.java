package dev.apportion.records;

import java.util.Comparator;

/**
 * One resource record that is served as it is declared.
 *
 * @param name the owner name, canonical, no trailing dot
 * @param type the record type's mnemonic, as {@code MX}
 * @param ttlSeconds the time to live, in seconds
 * @param value the record data in presentation format (RFC 1035, section 5), every name in it absolute
 */
public record FixedRecord(String name, String type, int ttlSeconds, String value) {

    public static final Comparator<FixedRecord> ORDER = Comparator.comparing(FixedRecord::name)
            .thenComparing(FixedRecord::type)
            .thenComparing(FixedRecord::value);
}
