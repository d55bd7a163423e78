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
    KUBE_APISERVER("kubernetes", "kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", Stamp.KUBERNETES),
    KUBECTL("kubernetes", "kubectl", "k8s.io/kubernetes/cmd/kubectl", Stamp.KUBERNETES);

    private final String folder;
    private final String program;
    private final String goPackage;
    private final Stamp stamp;

    Tool(String folder, String program, String goPackage, Stamp stamp) {
        this.folder = folder;
        this.program = program;
        this.goPackage = goPackage;
        this.stamp = stamp;
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
            case KUBERNETES -> kubernetesStamps(version);
        };
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

    private enum Stamp {
        NONE,
        KUBERNETES
    }
}
