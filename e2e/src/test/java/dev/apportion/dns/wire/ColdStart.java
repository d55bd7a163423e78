package dev.apportion.dns.wire;

import dev.apportion.dns.coredns.BaseCorefile;
import dev.apportion.e2e.bed.CoreDns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/** CoreDNS on published files, which it has never read before. */
final class ColdStart {

    private ColdStart() {}

    static CoreDns of(Path files) throws IOException {
        Files.writeString(
                files.resolve("Corefile"),
                new BaseCorefile(files.toString(), OptionalInt.empty(), OptionalInt.empty()).text());
        return CoreDns.start(files);
    }
}
