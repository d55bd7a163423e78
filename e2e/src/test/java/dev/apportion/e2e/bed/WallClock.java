package dev.apportion.e2e.bed;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A wall clock of their own for processes, which can be set while they run. Their monotonic clock is the machine's. */
public final class WallClock {

    private static final Path SOURCE = SourceTree.root().resolve("e2e/src/test/c/wall-clock.c");

    private final Path library;
    private final Path ahead;

    private WallClock(Path library, Path ahead) {
        this.library = library;
        this.ahead = ahead;
    }

    /** A clock that is right; the calling test is skipped where no C compiler can be had. */
    public static WallClock in(Path folder) throws IOException {
        Path compiler = DebianPackage.GCC.orSkip();
        Path library = folder.resolve("wall-clock.so");
        Command.of(List.of(
                        compiler.toString(),
                        "-shared",
                        "-fPIC",
                        "-O2",
                        "-nostdlib",
                        "-o",
                        library.toString(),
                        SOURCE.toString()))
                .run()
                .orThrow();
        Path ahead = Files.write(folder.resolve("ahead"), new byte[Long.BYTES]);
        return new WallClock(library, ahead);
    }

    /** What the environment of a process that is to have this clock must hold. */
    public Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "APPORTION_TEST_CLOCK", ahead.toString());
    }

    /** Sets the clock to the right time and this. */
    public void set(Duration offset) {
        try (RandomAccessFile file = new RandomAccessFile(ahead.toFile(), "rw")) {
            file.write(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.nativeOrder())
                    .putLong(offset.toSeconds())
                    .array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
