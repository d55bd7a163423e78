package dev.apportion.dns;

/** The names that are served beside the hosts' own: slots, which a response leads to, and probes, for verification. */
public final class ServedNames {

    private static final String SLOTS = "_s";
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
    public static String slotsOf(String label, String domain, int shard) {
        return label + "." + slotZone(domain, shard);
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
