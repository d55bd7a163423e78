package dev.apportion.dns.coredns;

import dev.apportion.dns.Shards;

/**
 * Where the configuration of CoreDNS stands.
 *
 * @param namespace the namespace of the ConfigMaps
 * @param configMap the name of the ConfigMaps without the number of the shard
 * @param shards the shards, one ConfigMap each
 * @param directory the folder in which CoreDNS sees the files, an absolute path without a slash at its end
 */
public record CoreDnsLayout(String namespace, String configMap, Shards shards, String directory) {

    static final String LABEL = "apportion.dev/part-of";
    static final String LABEL_VALUE = "coredns";

    /** The label selector of the ConfigMaps that hold CoreDNS' files. */
    public static final String SELECTOR = LABEL + "=" + LABEL_VALUE;

    /** The name of the ConfigMap of a shard. */
    public String configMapName(int shard) {
        return configMap + "-" + shard;
    }
}
