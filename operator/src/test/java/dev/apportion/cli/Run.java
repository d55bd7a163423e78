package dev.apportion.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/**
 * One run of the program within the test's process.
 *
 * @param code the exit code
 * @param out what it printed
 * @param err what it complained about
 */
record Run(int code, String out, String err) {

    static Run of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line =
                Main.commandLine(args).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int code = Main.run(line, args);
        return new Run(code, out.toString(), err.toString());
    }
}
