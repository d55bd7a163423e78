package dev.apportion.e2e.bed;

import java.util.List;
import java.util.stream.Stream;

/**
 * A program that the tests run and that is built from a Go module of {@code e2e/tools}. Another program is one more entry here and a
 * {@code tool} directive in the {@code go.mod} of its folder.
 */
public enum Tool {
    ETCD("etcd", "etcd", "go.etcd.io/etcd/server/v3", Stamp.NONE),
    COREDNS("coredns", "coredns", "github.com/coredns/coredns", Stamp.NONE),
    EXTERNAL_DNS("external-dns", "external-dns", "sigs.k8s.io/external-dns", Stamp.NONE),
    HELM("helm", "helm", "helm.sh/helm/v3/cmd/helm", Stamp.HELM),
    KUBE_APISERVER("kubernetes", "kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", Stamp.KUBERNETES),
    KUBECTL("kubernetes", "kubectl", "k8s.io/kubernetes/cmd/kubectl", Stamp.KUBERNETES),

    KIND("kind", "kind", "sigs.k8s.io/kind", Stamp.NONE, Use.CLUSTER),
    TRAFFIC("traffic", "traffic", "apportion.dev/tools/traffic", Stamp.NONE, Use.CLUSTER),
    METRICS_SERVER(
            "metrics-server",
            "metrics-server",
            "sigs.k8s.io/metrics-server/cmd/metrics-server",
            Stamp.NONE,
            Use.CLUSTER),
    CONTAINERD(
            "containerd",
            "containerd",
            "github.com/containerd/containerd/v2/cmd/containerd",
            Stamp.CONTAINERD,
            Use.CLUSTER),
    CONTAINERD_SHIM(
            "containerd",
            "containerd-shim-runc-v2",
            "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
            Stamp.CONTAINERD,
            Use.CLUSTER),
    CTR("containerd", "ctr", "github.com/containerd/containerd/v2/cmd/ctr", Stamp.CONTAINERD, Use.CLUSTER),
    KUBEADM("kubernetes", "kubeadm", "k8s.io/kubernetes/cmd/kubeadm", Stamp.KUBERNETES, Use.CLUSTER),
    KUBELET("kubernetes", "kubelet", "k8s.io/kubernetes/cmd/kubelet", Stamp.KUBERNETES, Use.CLUSTER),
    KUBE_CONTROLLER_MANAGER(
            "kubernetes",
            "kube-controller-manager",
            "k8s.io/kubernetes/cmd/kube-controller-manager",
            Stamp.KUBERNETES,
            Use.CLUSTER),
    KUBE_SCHEDULER(
            "kubernetes", "kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", Stamp.KUBERNETES, Use.CLUSTER),
    KUBE_PROXY("kubernetes", "kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", Stamp.KUBERNETES, Use.CLUSTER);

    private final String folder;
    private final String program;
    private final String goPackage;
    private final Stamp stamp;
    private final Use use;

    Tool(String folder, String program, String goPackage, Stamp stamp) {
        this(folder, program, goPackage, stamp, Use.PROCESS);
    }

    Tool(String folder, String program, String goPackage, Stamp stamp, Use use) {
        this.folder = folder;
        this.program = program;
        this.goPackage = goPackage;
        this.stamp = stamp;
        this.use = use;
    }

    /** Whether a cluster alone needs it: it is then built when a cluster is made, and not before. */
    public boolean isForClusters() {
        return use == Use.CLUSTER;
    }

    /** The folder below {@code e2e/tools} whose {@code go.mod} says the version. */
    String folder() {
        return folder;
    }

    /** The file name of the program. */
    public String program() {
        return program;
    }

    /** The import path of the program's main package. */
    String goPackage() {
        return goPackage;
    }

    /** Linker variables, {@code name=value}, that hold the version that a release build of the program would have. */
    List<String> stamps(String version) {
        return switch (stamp) {
            case NONE -> List.of();
            case CONTAINERD -> List.of("github.com/containerd/containerd/v2/version.Version=" + version);
            case KUBERNETES -> kubernetesStamps(version);
            case HELM -> List.of("helm.sh/helm/v3/internal/version.version=" + version);
        };
    }

    /** Build tags: what a node in a container has no use for, and what needs C libraries. */
    List<String> tags() {
        return stamp == Stamp.CONTAINERD ? List.of("no_btrfs", "no_devmapper", "no_zfs", "no_aufs") : List.of();
    }

    // An unstamped API server calls itself v0.0.0-master, and clients decide by the version what it can do.
    private static List<String> kubernetesStamps(String version) {
        String[] parts = version.substring(1).split("\\.", -1);
        return Stream.of("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
                .flatMap(path -> Stream.of(
                        path + ".gitVersion=" + version,
                        path + ".gitMajor=" + parts[0],
                        path + ".gitMinor=" + parts[1],
                        path + ".gitTreeState=clean"))
                .toList();
    }

    private enum Use {
        PROCESS,
        CLUSTER
    }

    private enum Stamp {
        NONE,
        CONTAINERD,
        HELM,
        KUBERNETES
    }
}
