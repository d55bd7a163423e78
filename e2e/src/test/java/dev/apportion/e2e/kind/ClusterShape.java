package dev.apportion.e2e.kind;

import java.nio.file.Files;
import java.nio.file.Path;

/** What kind is told about a cluster: two nodes, and as little else as possible. */
enum ClusterShape {
    /** Of the node image that kind's authors released, with kind's own pod network. */
    RELEASED(""),
    /** Of a node image that is built here and has no pod network. */
    BUILT("networking: {disableDefaultCNI: true}\n");

    private final String network;

    ClusterShape(String network) {
        this.network = network;
    }

    /** The configuration file, in the form of kind's v1alpha4. */
    String text() {
        return """
            kind: Cluster
            apiVersion: kind.x-k8s.io/v1alpha4
            nodes: [{role: control-plane}, {role: worker}]
            """ + network + (Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers")) ? "" : """
                # Since 1.35 the kubelet refuses a machine with version 1 of control groups if it is not told otherwise.
                kubeadmConfigPatches:
                - |
                  kind: KubeletConfiguration
                  apiVersion: kubelet.config.k8s.io/v1beta1
                  failCgroupV1: false
                """);
    }
}
