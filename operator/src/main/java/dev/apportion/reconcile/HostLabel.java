package dev.apportion.reconcile;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names the place in DNS where the slots of a stream stand: readable, stable, and unique by a hash. */
final class HostLabel {

    /** Ten hexadecimal digits: among 10,000 streams two share a hash with a probability of 5·10⁻⁵. */
    private static final int HASH_OCTETS = 5;

    private static final int READABLE = 40;

    /** The longest label: the readable part, a hyphen and the hash. */
    static final int MAX_LENGTH = READABLE + 1 + 2 * HASH_OCTETS;

    private HostLabel() {}

    /**
     * The label of a stream.
     *
     * @param hostname the canonical host name
     * @param stream the name of the TrafficStream, empty for the implicit one
     */
    static String of(String hostname, String stream) {
        String readable = (hostname.substring(0, (hostname + ".").indexOf('.'))
                        + (stream.isEmpty() ? "" : "-" + stream))
                .replace('.', '-');
        String start = readable.length() > READABLE ? readable.substring(0, READABLE) : readable;
        return start + "-" + hash(hostname + "/" + stream);
    }

    /**
     * The label that the keys of a host share.
     *
     * @param hostname the canonical host name
     */
    static String ofKeys(String hostname) {
        String readable = hostname.substring(0, (hostname + ".").indexOf('.')) + "-keys";
        // no stream has a name with an asterisk
        return readable.substring(0, Math.min(readable.length(), READABLE)) + "-" + hash(hostname + "/*");
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, HASH_OCTETS);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
