package dev.apportion.dns;

import dev.apportion.records.Host;
import dev.apportion.records.HostStream;

/** The names that are served beside the hosts' own: slots, which a response leads to, and probes, for verification. */
public final class ServedNames {

    /** The label of what leads to slots. */
    public static final String SLOTS = "_s";

    private static final String PROBES = "_p";

    private ServedNames() {}

    /** The name under which all slot zones of a domain stand. */
    public static String slots(String domain) {
        return SLOTS + "." + domain;
    }

    /** The zone that holds the slots of the hosts in one shard. */
    public static String slotZone(String domain, int shard) {
        return "s" + shard + "." + slots(domain);
    }

    /** The name under which all slots of a stream stand. */
    public static String slotsOf(Host host, HostStream stream, String domain, int shard) {
        return slotsOf(slotsIn(host, stream), domain, shard);
    }

    /** The name under which the slots stand that have a name relative to the zone that holds them. */
    public static String slotsOf(String relative, String domain, int shard) {
        return relative + "." + slotZone(domain, shard);
    }

    /**
     * The name under which all slots of a stream stand, relative to the zone that holds them: its label, or, for a key, the
     * key below that. A label between them keeps the digits of a key's slots apart from longer keys.
     */
    public static String slotsIn(Host host, HostStream stream) {
        return host.isKey() ? SLOTS + "." + host.key() + "." + stream.label() : stream.label();
    }

    /**
     * Whether a host stands in the file of its domain, so that the names between the two exist. A key of one label has none
     * between itself and its host.
     */
    public static boolean hasPlaceholder(Host host) {
        return !host.isKey() || host.key().indexOf('.') >= 0;
    }

    /** The name under which all probe names of a host stand; any name below it is answered as the host is. */
    public static String probes(String host) {
        return PROBES + "." + host;
    }

    /** The name under which a stream of a host can be asked from anywhere. */
    public static String probesOf(String label, String host) {
        return label + "." + probes(host);
    }

    /** Whether a name equals another one or lies below it. */
    public static boolean isWithin(String name, String parent) {
        return name.equals(parent)
                || (name.endsWith(parent) && name.charAt(name.length() - parent.length() - 1) == '.');
    }
}
