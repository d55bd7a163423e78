package dev.apportion.cli;

import java.util.List;
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
        versionProvider = Version.class)
public final class Main {

    private static final List<String> COMMANDS =
            List.of("operator", "sync", "local", "plan", "ask", "simulate", "capacity", "explain", "verify");

    private static final int MEBI = 20;

    private Main() {}

    /** Runs a command and exits with its code: 0 well, 1 fatal or something is rejected, 2 bad input or options. */
    public static void main(String[] args) {
        System.exit(run(commandLine(args), args));
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

    /**
     * The program as these arguments ask for it: with one command where they begin with its name, since the others would cost
     * the operator's start some 100 ms; otherwise with all, for help and advice.
     */
    static CommandLine commandLine(String... args) {
        CommandLine program = new CommandLine(new Main());
        (args.length > 0 && COMMANDS.contains(args[0]) ? List.of(args[0]) : COMMANDS)
                .forEach(name -> program.addSubcommand(command(name)));
        return program.setCaseInsensitiveEnumValuesAllowed(true).setExecutionExceptionHandler((e, line, parsed) -> {
            if (e instanceof ManifestException || e instanceof ClusterException) {
                line.getErr().println(e.getMessage());
                return CommandLine.ExitCode.USAGE;
            }
            line.getErr().println("apportion: " + message(e));
            return CommandLine.ExitCode.SOFTWARE;
        });
    }

    private static Class<?> command(String name) {
        return switch (name) {
            case "operator" -> OperatorCommand.class;
            case "sync" -> SyncCommand.class;
            case "local" -> LocalCommand.class;
            case "plan" -> PlanCommand.class;
            case "ask" -> AskCommand.class;
            case "simulate" -> SimulateCommand.class;
            case "capacity" -> CapacityCommand.class;
            case "explain" -> ExplainCommand.class;
            case "verify" -> VerifyCommand.class;
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static String message(Throwable e) {
        String own = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        return e.getCause() == null ? own : own + ": " + message(e.getCause());
    }
}
