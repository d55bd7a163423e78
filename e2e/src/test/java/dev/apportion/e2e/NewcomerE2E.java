package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.Command;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.SourceTree;
import dev.apportion.e2e.kind.Cluster;
import dev.apportion.e2e.kind.WithCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README tells a newcomer to type, typed where there are only Docker, kind, kubectl and Helm. */
@WithCluster
class NewcomerE2E {

    private static final Pattern COMMANDS =
            Pattern.compile("^## Run it in a cluster$.*?^```sh$\\R(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

    /** The image is built already; that is the one line that needs more. */
    private static final Pattern BUILD = Pattern.compile("^mvn .* && ");

    private static List<String> commands() throws IOException {
        Matcher matcher = COMMANDS.matcher(Files.readString(SourceTree.root().resolve("README.md")));
        assertThat(matcher.find()).isTrue();
        return matcher.group(1).replaceAll("\\\\\\R *", "").lines().toList();
    }

    @Test
    void theReadmesCommandsWorkAsTheyAreTyped(Cluster cluster, @TempDir Path home) throws IOException {
        String dns = Installation.coreDnsOf(cluster);
        String answers = "";
        for (String command : commands()) {
            String line = BUILD.matcher(command).replaceFirst("");
            // The image of the cluster's CoreDNS is the one that nodes have where no registry can be reached.
            line += line.startsWith("helm install") ? " --set " + dns : "";
            Command.Result result = cluster.type(line, home).orThrow();
            answers = result.stdout();
            System.out.printf("$ %s%n%s%n", line, answers);
        }
        assertThat(answers).contains("192.0.2.10", "192.0.2.11", "192.0.2.20");
        end(cluster, home);
    }

    private static void end(Cluster cluster, Path home) throws IOException {
        Kubectl kubectl = cluster.kubectl("dns");
        kubectl.run("delete", "namespace", "web").orThrow();
        kubectl.run("delete", "dnszones", "--all").orThrow();
        cluster.type("helm uninstall apportion -n dns --wait", home).orThrow();
        Installation.deleteDefinitions(kubectl);
        kubectl.run("delete", "namespace", "dns").orThrow();
    }
}
