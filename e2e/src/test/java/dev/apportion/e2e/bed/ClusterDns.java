package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A CoreDNS as kubeadm sets it up for a cluster, less the plugins that need one. Its upstream is an authoritative server. */
public final class ClusterDns {

    private ClusterDns() {}

    /**
     * Everything goes through the cache, as it comes.
     *
     * @param folder an empty folder, for the Corefile
     * @param authoritative the port of 127.0.0.1 at which the upstream answers
     */
    public static CoreDns caching(Path folder, int authoritative) throws IOException {
        return start(folder, usual(authoritative));
    }

    /** One domain has a block of its own, which only forwards. */
    public static CoreDns forwarding(Path folder, String domain, int authoritative) throws IOException {
        return start(folder, usual(authoritative) + """
            %s {
              bind 127.0.0.1
              errors
              forward . 127.0.0.1:%d
            }
            """.formatted(domain, authoritative));
    }

    /** As node-local caches are set up: forwarded and cached, not reordered. */
    public static CoreDns onTheNode(Path folder, int authoritative) throws IOException {
        return start(folder, usual(authoritative).replace("  loadbalance\n", ""));
    }

    private static String usual(int upstream) {
        return """
            . {
              bind 127.0.0.1
              errors
              forward . 127.0.0.1:%d {
                max_concurrent 1000
              }
              cache 30
              loop
              reload
              loadbalance
            }
            """.formatted(upstream);
    }

    private static CoreDns start(Path folder, String corefile) throws IOException {
        Files.writeString(folder.resolve("Corefile"), corefile);
        return CoreDns.start(folder);
    }
}
