package dev.apportion.e2e.kind;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import java.util.List;

/**
 * A pod network of nothing but the reference CNI plugins and routes, for nodes without one: each node has a range of addresses, every
 * other node has a route to it, and pods see each other's own addresses. There are no network policies.
 */
record PodNetwork(Cluster cluster) {

    private static final String PODS = "10.244.0.0/16"; // kind's pod subnet

    void install() {
        List<Node> nodes = cluster.nodeObjects();
        for (Node node : nodes) {
            String name = node.getMetadata().getName();
            StringBuilder script = new StringBuilder("set -e\n");
            for (Node other : nodes) {
                if (!other.getMetadata().getName().equals(name)) {
                    script.append("ip route replace %s via %s%n"
                            .formatted(other.getSpec().getPodCIDR(), address(other)));
                }
            }
            script.append("iptables -w -t nat -A POSTROUTING -s %1$s ! -d %1$s -j MASQUERADE%n".formatted(PODS));
            cluster.onNode(name, script.toString()).orThrow();
            // Last: this file makes the node ready.
            cluster.writeOnNode(
                    name,
                    "/etc/cni/net.d/10-ptp.conflist",
                    configuration(node.getSpec().getPodCIDR()));
        }
    }

    private static String address(Node node) {
        return node.getStatus().getAddresses().stream()
                .filter(address -> address.getType().equals("InternalIP"))
                .map(NodeAddress::getAddress)
                .findFirst()
                .orElseThrow();
    }

    private static String configuration(String range) {
        return """
            {
              "cniVersion": "0.4.0",
              "name": "pods",
              "plugins": [
                {
                  "type": "ptp",
                  "ipMasq": false,
                  "mtu": 1500,
                  "ipam": {
                    "type": "host-local",
                    "dataDir": "/run/cni-ipam-state",
                    "ranges": [[{"subnet": "%s"}]],
                    "routes": [{"dst": "0.0.0.0/0"}]
                  }
                },
                {"type": "portmap", "capabilities": {"portMappings": true}}
              ]
            }
            """.formatted(range);
    }
}
