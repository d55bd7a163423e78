package dev.apportion.cli;

import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program {@code apportion}. */
@Command(
        name = "apportion",
        description = "DNS traffic allocation: which replicas each population of clients is answered, and in what"
                + " proportions.",
        mixinStandardHelpOptions = true,
        // The commands have --help and --version too.
        scope = CommandLine.ScopeType.INHERIT,
        versionProvider = Version.class,
        subcommands = {
            OperatorCommand.class,
            SyncCommand.class,
            LocalCommand.class,
            PlanCommand.class,
            AskCommand.class,
            SimulateCommand.class,
            CapacityCommand.class,
            ExplainCommand.class,
            VerifyCommand.class
        })
public final class Main {

    private static final int MEBI = 20;

    private Main() {}

    /** Runs a command and exits with its code: 0 well, 1 fatal or something is rejected, 2 bad input or options. */
    public static void main(String[] args) {
        System.exit(run(commandLine(), args));
    }

    /** Nothing that is written may depend on where it is written, so the locale is the same everywhere. */
    static int run(CommandLine line, String... args) {
        Locale.setDefault(Locale.ROOT);
        try {
            return line.execute(args);
        } catch (OutOfMemoryError e) {
            line.getErr()
                    .println(
                            "apportion: a heap of %d MiB is too small for this; APPORTION_JAVA_OPTIONS=-Xmx4g gives more"
                                    .formatted(Runtime.getRuntime().maxMemory() >> MEBI));
            return CommandLine.ExitCode.SOFTWARE;
        }
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((e, line, parsed) -> {
                    if (e instanceof ManifestException || e instanceof ClusterException) {
                        line.getErr().println(e.getMessage());
                        return CommandLine.ExitCode.USAGE;
                    }
                    line.getErr().println("apportion: " + message(e));
                    return CommandLine.ExitCode.SOFTWARE;
                });
    }

    private static String message(Throwable e) {
        String own = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        return e.getCause() == null ? own : own + ": " + message(e.getCause());
    }
}
