package dev.apportion.dns.coredns;

/** The files of a zone in one shard. */
public final class ShardFiles {

    /** The most that the data of one ConfigMap may hold, in bytes: Kubernetes refuses objects above 1 MiB. */
    public static final int MOST_BYTES = 900 * 1024;

    private ShardFiles() {}
}
