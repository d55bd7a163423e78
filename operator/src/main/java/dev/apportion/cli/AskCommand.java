package dev.apportion.cli;

import dev.apportion.dns.wire.Asker;
import dev.apportion.records.DomainNames;
import dev.apportion.records.Parsed;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.ResolverConfig;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code apportion ask}: counts what a DNS server answers. */
@Command(
        name = "ask",
        description =
                "Asks a DNS server, by default the first resolver of this system, for a name many times, as so many"
                        + " clients would, and counts what it answers.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every response had the expected code, and a record where that is NOERROR",
            "1:one had not, or there was no response",
            "2:bad options"
        })
final class AskCommand implements Callable<Integer> {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** A question for each of a million clients would be a flood. */
    private static final int MOST = 100_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(paramLabel = "NAME", description = "The host name to ask for.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Mixin
    private ServerOptions asked = new ServerOptions();

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            defaultValue = "A",
            description = "The type to ask for; default: ${DEFAULT-VALUE}.")
    private String type = "A";

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "256",
            description = "How many times, 1 to 100000; default: ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--expect",
            paramLabel = "CODE",
            defaultValue = "NOERROR",
            description = "The response code that is expected, as NXDOMAIN or REFUSED; default: ${DEFAULT-VALUE}.")
    private String expect = "NOERROR";

    @Override
    public Integer call() throws UnknownHostException {
        Name host = absolute();
        int wanted = Type.value(type.toUpperCase(Locale.ROOT));
        String code = expect.toUpperCase(Locale.ROOT);
        if (wanted < 0) {
            throw bad("--type %s is no type of records; write, for example, A, AAAA or TXT".formatted(type));
        }
        if (Rcode.value(code) < 0) {
            throw bad("--expect %s is no response code; write, for example, NOERROR or NXDOMAIN".formatted(expect));
        }
        if (count < 1 || count > MOST) {
            throw bad("--count %d is not from 1 to %d".formatted(count, MOST));
        }
        List<ServerName> servers = asked.servers();
        if (servers.size() > 1) {
            throw bad("--server: one at a time, not %d".formatted(servers.size()));
        }
        InetSocketAddress address = servers.isEmpty()
                ? ResolverConfig.getCurrentConfig().server()
                : servers.getFirst().resolve();
        // Authoritative servers do not mind.
        AnswerSample sample = AnswerSample.take(
                Asker.ofResolvers(TIMEOUT), Objects.requireNonNull(address, "no resolver"), host, wanted, count);
        PrintWriter out = spec.commandLine().getOut();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("ASKED", "FIRST " + Type.string(wanted), "ANSWERS", "OF " + count));
        sample.firsts()
                .forEach((first, times) -> rows.add(List.of(
                        host.toString(true),
                        first,
                        Integer.toString(times),
                        PlanTable.percent((double) times / count))));
        if (rows.size() > 1) {
            out.print(PlanTable.aligned(rows));
        }
        sample.silence()
                .ifPresent(reason -> spec.commandLine()
                        .getErr()
                        .println("apportion: %s port %d: %s"
                                .formatted(address.getAddress().getHostAddress(), address.getPort(), reason)));
        out.flush();
        return sample.isAlways(code) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private Name absolute() {
        return switch (DomainNames.parse(name)) {
            case Parsed.Value<String>(String canonical) -> {
                try {
                    yield Name.fromString(canonical + ".");
                } catch (TextParseException e) {
                    throw bad(e.getMessage());
                }
            }
            case Parsed.Invalid<String>(String problem) -> throw bad(problem);
        };
    }

    private CommandLine.ParameterException bad(@Nullable String message) {
        return new CommandLine.ParameterException(spec.commandLine(), String.valueOf(message));
    }
}
