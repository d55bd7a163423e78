package dev.apportion.e2e.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolCacheTest {

    @TempDir
    Path folder;

    private Path modules;
    private Path bin;
    private final ByteArrayOutputStream progress = new ByteArrayOutputStream();

    @BeforeEach
    void writeModule() throws IOException {
        modules = folder.resolve("tools");
        bin = Files.createDirectories(folder.resolve("bin"));
        Path module = Files.createDirectories(modules.resolve("etcd"));
        Files.writeString(module.resolve("go.mod"), """
            module example.org/tools/etcd

            require (
            \tgo.etcd.io/etcd/api/v3 v3.7.1 // indirect
            \tgo.etcd.io/etcd/server/v3 v3.7.3 // indirect
            )
            """);
        Files.writeString(module.resolve("go.sum"), "");
    }

    private ToolCache cache(Map<String, String> more) {
        Map<String, String> environment = new HashMap<>(more);
        environment.put("PATH", bin + ":/usr/bin:/bin");
        environment.put("APPORTION_CACHE", folder.resolve("cache").toString());
        return new ToolCache(environment, modules, new PrintStream(progress, true, StandardCharsets.UTF_8));
    }

    /** A go command that records each call, and does what the rest of the script says. */
    private void installGo(String rest) throws IOException {
        executable(bin.resolve("go"), """
            #!/bin/sh
            echo "$PWD $CGO_ENABLED $GOFLAGS $GOTOOLCHAIN $*" >> %s
            while [ "$1" != -o ]; do shift; done
            """.formatted(calls()) + rest);
    }

    private Path calls() {
        return folder.resolve("calls");
    }

    private static Path executable(Path file, String text) throws IOException {
        Files.writeString(file, text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
    }

    @Test
    void buildsOnceAndFindsItAgain() throws IOException {
        installGo("echo built > \"$2\"; chmod +x \"$2\"");

        Path first = cache(Map.of()).path(Tool.ETCD);
        Path second = cache(Map.of()).path(Tool.ETCD);

        assertThat(second).isEqualTo(first).isExecutable().hasContent("built");
        assertThat(first.toString()).contains("cache/tools/etcd-v3.7.3/").endsWith("/etcd");
        assertThat(Files.readAllLines(calls()))
                .singleElement()
                .satisfies(call -> assertThat(call)
                        .startsWith(modules.resolve("etcd")
                                + " 0 -mod=readonly -trimpath -buildvcs=false local build -v -o ")
                        .endsWith(" -ldflags -s -w go.etcd.io/etcd/server/v3"));
        assertThat(progress.toString(StandardCharsets.UTF_8)).contains("building etcd v3.7.3", "built etcd v3.7.3");
        try (Stream<Path> left = Files.list(first.resolveSibling("."))) {
            assertThat(left.map(file -> file.getFileName().toString())).containsExactlyInAnyOrder("etcd", "build.lock");
        }
    }

    @Test
    void buildsTheProgramsOfOneModuleInOneGo() throws IOException {
        Path module = Files.createDirectories(modules.resolve("kubernetes"));
        Files.writeString(module.resolve("go.mod"), "module a\n\nrequire k8s.io/kubernetes v1.36.3 // indirect\n");
        Files.writeString(module.resolve("go.sum"), "");
        installGo("cd \"$2\"; echo built > kubelet; echo built > kubeadm; chmod +x kube*");

        Map<Tool, Path> paths = cache(Map.of()).paths(List.of(Tool.KUBELET, Tool.KUBEADM));

        assertThat(paths).containsOnlyKeys(Tool.KUBELET, Tool.KUBEADM);
        assertThat(paths.values()).allSatisfy(path -> assertThat(path).isExecutable());
        assertThat(Files.readAllLines(calls()))
                .singleElement()
                .satisfies(call -> assertThat(call).contains("cmd/kubelet", "cmd/kubeadm"));
    }

    @Test
    void programsThatAreBuiltTogetherHaveTheNamesThatGoGivesThem() {
        assertThat(Tool.values())
                .filteredOn(tool -> Stream.of(Tool.values())
                                .filter(other -> other.folder().equals(tool.folder()))
                                .count()
                        > 1)
                .isNotEmpty()
                .allSatisfy(tool -> assertThat(tool.goPackage()).endsWith("/" + tool.program()));
    }

    @Test
    void theIdentityOfAProgramChangesWithItsVersionAndBuildsNothing() throws IOException {
        String before = cache(Map.of()).identity(Tool.ETCD);
        assertThat(cache(Map.of("HOME", "/elsewhere")).identity(Tool.ETCD)).isEqualTo(before);
        Path goMod = modules.resolve("etcd/go.mod");
        Files.writeString(goMod, Files.readString(goMod).replace("v3.7.3", "v3.8.0"));

        assertThat(cache(Map.of()).identity(Tool.ETCD)).isNotEqualTo(before);
        assertThat(calls()).doesNotExist();
    }

    @Test
    void aProgramOfOurOwnIsBuiltAnewWhenItsSourceChanges() throws IOException {
        Path module = Files.createDirectories(modules.resolve("traffic"));
        Files.writeString(module.resolve("go.mod"), "module apportion.dev/tools/traffic\n");
        Files.writeString(module.resolve("go.sum"), "");
        Files.writeString(module.resolve("main.go"), "package main\n");
        installGo("echo built > \"$2\"; chmod +x \"$2\"");
        Path before = cache(Map.of()).path(Tool.TRAFFIC);
        Files.writeString(module.resolve("main.go"), "package main // changed\n");

        Path after = cache(Map.of()).path(Tool.TRAFFIC);

        assertThat(after).isNotEqualTo(before).isExecutable();
    }

    @Test
    void buildsOnceForRunsAtTheSameTime() throws Exception {
        installGo("sleep 0.3; echo built > \"$2\"; chmod +x \"$2\"");

        try (ExecutorService runs = Executors.newFixedThreadPool(4)) {
            List<Future<Path>> paths = Stream.generate(
                            () -> runs.submit(() -> cache(Map.of()).path(Tool.ETCD)))
                    .limit(4)
                    .toList();
            for (Future<Path> path : paths) {
                assertThat(path.get()).isExecutable();
            }
        }

        assertThat(Files.readAllLines(calls())).hasSize(1);
    }

    @Test
    void buildsAnewForAnotherVersion() throws IOException {
        installGo("echo built > \"$2\"; chmod +x \"$2\"");
        Path before = cache(Map.of()).path(Tool.ETCD);
        Path goMod = modules.resolve("etcd/go.mod");
        Files.writeString(goMod, Files.readString(goMod).replace("v3.7.3", "v3.8.0"));

        Path after = cache(Map.of()).path(Tool.ETCD);

        assertThat(after).isNotEqualTo(before);
        assertThat(after.toString()).contains("etcd-v3.8.0");
    }

    @Test
    void showsWhatGoSaidAndLeavesNothingWhenTheBuildFails() throws IOException {
        installGo("echo half > \"$2\"; chmod +x \"$2\"; echo 'missing go.sum entry' >&2; exit 1");

        assertThatThrownBy(() -> cache(Map.of()).path(Tool.ETCD))
                .isInstanceOf(ToolUnavailableException.class)
                .hasMessageContaining("etcd v3.7.3 could not be built: go ended with 1")
                .hasMessageContaining("missing go.sum entry");

        try (Stream<Path> left = Files.walk(folder.resolve("cache"))) {
            assertThat(left.filter(Files::isRegularFile)
                            .map(file -> file.getFileName().toString()))
                    .containsExactly("build.lock");
        }
    }

    @Test
    void saysWhatToInstallWithoutGo() {
        assertThatThrownBy(() -> new ToolCache(
                                Map.of("PATH", bin.toString(), "APPORTION_CACHE", folder.toString()),
                                modules,
                                new PrintStream(progress, true, StandardCharsets.UTF_8))
                        .path(Tool.ETCD))
                .isInstanceOf(ToolUnavailableException.class)
                .hasMessage(
                        "etcd v3.7.3 is needed and not built yet. Install Go 1.26 or later so that the command go is"
                                + " found, or set APPORTION_TEST_BINARIES to a folder that holds etcd.");
    }

    @Test
    void takesGivenBinariesAndNamesAMissingOne() throws IOException {
        Path given = Files.createDirectories(folder.resolve("given"));
        executable(given.resolve("etcd"), "");
        ToolCache cache = cache(Map.of("APPORTION_TEST_BINARIES", given.toString()));

        assertThat(cache.path(Tool.ETCD)).isEqualTo(given.resolve("etcd"));
        assertThatThrownBy(() -> cache.path(Tool.COREDNS))
                .isInstanceOf(ToolUnavailableException.class)
                .hasMessageContaining(given.toString())
                .hasMessageContaining("coredns");
    }

    @Test
    void stampsKubernetesWithItsVersion() {
        assertThat(Tool.KUBE_APISERVER.stamps("v1.36.3"))
                .contains(
                        "k8s.io/component-base/version.gitVersion=v1.36.3",
                        "k8s.io/component-base/version.gitMajor=1",
                        "k8s.io/client-go/pkg/version.gitMinor=36");
    }
}
