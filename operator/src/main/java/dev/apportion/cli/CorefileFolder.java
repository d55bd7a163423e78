package dev.apportion.cli;

import dev.apportion.dns.coredns.BaseCorefile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/** A folder that a CoreDNS outside of a cluster is run on. */
final class CorefileFolder {

    private static final String COREFILE = "Corefile";

    private CorefileFolder() {}

    /** Makes the folder, with a Corefile that takes in its zones; one that is there already stays as it is. */
    static void prepare(Path folder) throws IOException {
        Files.createDirectories(folder);
        Path corefile = folder.resolve(COREFILE);
        if (!Files.exists(corefile)) {
            String directory = folder.toAbsolutePath().normalize().toString();
            Files.writeString(corefile, new BaseCorefile(directory, OptionalInt.empty(), OptionalInt.empty()).text());
        }
    }
}
