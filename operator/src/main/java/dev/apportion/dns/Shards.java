package dev.apportion.dns;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.zip.CRC32;

/**
 * The parts that the hosts of a zone are spread over, so that each is small enough to be one object.
 *
 * @param count how many parts, at least one
 */
public record Shards(int count) {

    public Shards {
        if (count < 1) {
            throw new IllegalArgumentException("there must be at least one shard, not " + count);
        }
    }

    /** The part in which a name stands, from zero: CRC-32 of the name, modulo the number of parts. */
    public int of(String name) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(US_ASCII));
        return (int) (crc.getValue() % count);
    }
}
