package dev.apportion.e2e.bed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The packaged program {@code apportion}, as {@code mvn package} leaves it.
 *
 * @param program its start script
 * @param environment variables that it gets beside those of this JVM
 */
public record Apportion(Path program, Map<String, String> environment) {

    public Apportion {
        environment = Map.copyOf(environment);
    }

    /**
     * The program of this source tree.
     *
     * @throws IllegalStateException if it is not packaged
     */
    public static Apportion packaged() {
        return in(SourceTree.root());
    }

    static Apportion in(Path sourceTree) {
        Path program = sourceTree.resolve("operator/target/apportion/bin/apportion");
        if (!Files.isExecutable(program)) {
            throw new IllegalStateException(
                    program + " is missing. Build it with `mvn package`, then run the test again.");
        }
        // The program needs the Java version that runs this test, whatever JAVA_HOME says.
        return new Apportion(program, Map.of("JAVA_HOME", System.getProperty("java.home")));
    }

    /** The program with the kubeconfig of a test server. */
    public Apportion against(ApiServer server) {
        return against(server.kubeconfig());
    }

    /** The program with a kubeconfig file. */
    public Apportion against(Path kubeconfig) {
        return with("KUBECONFIG", kubeconfig.toString());
    }

    /** The program with another variable in its environment. */
    public Apportion with(String variable, String value) {
        return with(Map.of(variable, value));
    }

    /** The program with more variables in its environment. */
    public Apportion with(Map<String, String> more) {
        Map<String, String> variables = new HashMap<>(environment);
        variables.putAll(more);
        return new Apportion(program, variables);
    }

    /** Runs a command such as {@code "plan", "-f", "FILE"} to its end. */
    public Command.Result run(String... arguments) {
        return Command.of(line(arguments)).withEnvironment(environment).run();
    }

    /**
     * Starts a command such as {@code "operator"} that runs until it is ended. Its log stays in {@code e2e/target/logs}, to be read after
     * a failed run.
     */
    public ServerProcess start(String... arguments) throws IOException {
        Path logs = Files.createDirectories(SourceTree.root().resolve("e2e/target/logs"));
        Path log = Files.createTempFile(logs, "apportion-", ".log");
        return ServerProcess.start("apportion " + String.join(" ", arguments), line(arguments), logs, environment, log);
    }

    private List<String> line(String... arguments) {
        List<String> line = new ArrayList<>(List.of(program.toString()));
        line.addAll(List.of(arguments));
        return line;
    }
}
