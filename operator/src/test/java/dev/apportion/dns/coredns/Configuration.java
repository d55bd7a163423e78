package dev.apportion.dns.coredns;

import dev.apportion.records.Addresses;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader of the server blocks that are written here, and of nothing more: every line is a directive of its block, and every
 * word in it a keyword, a name within the domain, a label, an address, a number or a path of the folder.
 */
public final class Configuration {

    private static final Set<String> OF_A_SERVER = Set.of("view", "template", "file", "loadbalance");

    private static final java.util.Map<String, Set<String>> OF_A_BLOCK = java.util.Map.of(
            "view", Set.of("expr"),
            "template", Set.of("match", "answer", "upstream", "fallthrough"),
            "file", Set.of("reload"),
            "loadbalance", Set.of("reload"));

    private static final Set<String> WORDS = Set.of(
            "weighted",
            "reload",
            "200ms",
            "expr",
            "template",
            "IN",
            "ANY",
            "A",
            "AAAA",
            "CNAME",
            "answer",
            "upstream",
            "fallthrough",
            "view",
            "file",
            "loadbalance",
            "name",
            "endsWith",
            "incidr",
            "client_ip",
            "==",
            "&&",
            "||",
            "?",
            ":",
            "!",
            "$h",
            "$s",
            ":=",
            "printf",
            "%04x",
            "%s%s%s%s",
            ".Message.Id",
            ".Name",
            "slice",
            "if",
            "lt",
            "else",
            "end",
            ".");

    /** The names within the match of the domain itself stand in a regular expression. */
    private static final Pattern MATCH =
            Pattern.compile(" {4}match \\^\\(\\(\\.\\*\\[\\.]\\)\\?_p\\[\\.]\\)\\?([a-z0-9_\\[\\].-]+)\\$");

    private static final Pattern NAME =
            Pattern.compile("[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\\.?");
    private static final Pattern WORD = Pattern.compile("[^ (){}'\"`,!]+|!");

    private final String domain;
    private final Set<String> labels;
    private final String directory;

    /**
     * A reader for one zone.
     *
     * @param labels the labels of its streams
     */
    public Configuration(String domain, Set<String> labels, String directory) {
        this.domain = domain;
        this.labels = labels;
        this.directory = directory;
    }

    /** Reads a file; throws an IllegalArgumentException that has the line. */
    public void read(String text) {
        Deque<String> open = new ArrayDeque<>();
        for (String line : List.of(text.split("\n", -1))) {
            if (line.isEmpty() || line.equals("# " + ServerBlocks.NOTICE)) {
                require(open.isEmpty(), line);
                continue;
            }
            String bare = line.strip();
            require(line.equals("  ".repeat(bare.equals("}") ? open.size() - 1 : open.size()) + bare), line);
            if (bare.equals("}")) {
                open.removeLast();
                continue;
            }
            String directive = bare.split(" ", 2)[0];
            switch (open.size()) {
                case 0 -> require(bare.endsWith(" {") && isOwnName(directive), line);
                case 1 -> require(OF_A_SERVER.contains(directive) && bare.endsWith(" {"), line);
                case 2 ->
                    require(OF_A_BLOCK.getOrDefault(open.getLast(), Set.of()).contains(directive), line);
                default -> require(false, line);
            }
            words(line);
            if (bare.endsWith(" {")) {
                open.addLast(directive);
            }
        }
        require(open.isEmpty(), "the end of the file");
    }

    private void words(String line) {
        Matcher match = MATCH.matcher(line);
        if (match.matches()) {
            require((domain + ".").equals(match.group(1).replace("[.]", ".")), line);
            return;
        }
        Matcher words = WORD.matcher(line);
        while (words.find()) {
            require(isKnown(words.group()), line + " at " + words.group());
        }
    }

    private boolean isKnown(String word) {
        return WORDS.contains(word)
                || labels.contains(word)
                || word.matches("[0-9]{1,5}|[0-9a-f]{4}")
                || isOwnName(word)
                || (word.startsWith(".") && isOwnName(word.substring(1)))
                || isOwnPath(word)
                || Addresses.parse(word) instanceof Parsed.Value<IPAddress>
                || Addresses.parseBlock(word) instanceof Parsed.Value<IPAddress>;
    }

    private boolean isOwnName(String word) {
        String name = word.endsWith(".") ? word.substring(0, word.length() - 1) : word;
        return NAME.matcher(word).matches() && (name.equals(domain) || name.endsWith("." + domain));
    }

    private boolean isOwnPath(String word) {
        return word.startsWith(directory + "/" + domain + ".")
                && NAME.matcher(word.substring(directory.length() + 1)).matches();
    }

    private static void require(boolean holds, String line) {
        if (!holds) {
            throw new IllegalArgumentException("unexpected: " + line);
        }
    }
}
