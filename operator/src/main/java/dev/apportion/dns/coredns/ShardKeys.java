package dev.apportion.dns.coredns;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The names of the files of a zone in one shard. All shards are seen in one folder, so a name says the domain and the
 * shard.
 *
 * @param domain the domain
 * @param shard the shard
 */
record ShardKeys(String domain, int shard) {

    private static final Pattern SERIAL = Pattern.compile("(.+)\\.s(\\d{1,4})\\.serial");

    /** A domain that ends so could have the same keys as a shard of its parent. */
    private static final Pattern AMBIGUOUS = Pattern.compile("(.*\\.)?(s|apex)\\d+");

    static boolean isAmbiguous(String domain) {
        return AMBIGUOUS.matcher(domain).matches();
    }

    /** The shards of zones whose serials stand among keys. */
    static Set<ShardKeys> within(Set<String> keys) {
        Map<String, ShardKeys> found = new LinkedHashMap<>();
        for (String key : new TreeSet<>(keys)) {
            parse(key).ifPresent(shard -> found.put(key, shard));
        }
        return Set.copyOf(found.values());
    }

    private static Optional<ShardKeys> parse(String key) {
        Matcher matcher = SERIAL.matcher(key);
        return matcher.matches()
                ? Optional.of(new ShardKeys(matcher.group(1), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    String conf() {
        return prefix() + "conf";
    }

    /** The blocks of keys of the domain: a name that comes before the domain's, since files are read in the order of names. */
    String apexConf() {
        return domain + ".apex" + shard + ".conf";
    }

    String zone() {
        return prefix() + "zone";
    }

    String weights() {
        return prefix() + "weights";
    }

    String serial() {
        return prefix() + "serial";
    }

    String state() {
        return prefix() + "state";
    }

    /** The epoch of the last writer. It says nothing of the zone, so it is not compared, and not copied into folders. */
    String epoch() {
        return prefix() + "epoch";
    }

    String domainConf() {
        return domain + ".conf";
    }

    String domainZone() {
        return domain + ".zone";
    }

    String apexZone(String label) {
        return prefix() + "_" + label + ".zone";
    }

    String apexWeights(String label) {
        return prefix() + "_" + label + ".weights";
    }

    /** Whether a key belongs to the zone in this shard. */
    boolean owns(String key) {
        if (key.equals(domainConf()) || key.equals(domainZone()) || key.equals(apexConf())) {
            return true;
        }
        if (!key.startsWith(prefix())) {
            return false;
        }
        String rest = key.substring(prefix().length());
        return switch (rest) {
            case "conf", "zone", "weights", "serial", "state" -> true;
            default -> rest.startsWith("_") && (rest.endsWith(".zone") || rest.endsWith(".weights"));
        };
    }

    private String prefix() {
        return domain + ".s" + shard + ".";
    }
}
