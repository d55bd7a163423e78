package dev.apportion.dns.coredns;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.records.ZoneRecords;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/** Writes the files of CoreDNS into a folder, for a CoreDNS that does not see ConfigMaps. */
public final class DirectoryPublisher {

    private final Path directory;

    public DirectoryPublisher(Path directory) {
        this.directory = directory;
    }

    /** What became of the folder. */
    public sealed interface Outcome {

        /**
         * The folder says what is desired.
         *
         * @param written the files that were written
         * @param removed the files that were removed
         * @param serials the serial of each shard of each zone, by {@code domain/shard}
         */
        record Written(List<String> written, List<String> removed, SortedMap<String, Serial> serials)
                implements Outcome {}

        /** Nothing was changed, because of the input or of a file that is somebody else's. */
        record Refused(String message) implements Outcome {}

        /** The file system refused; what was written so far is whole files. */
        record Failed(String message) implements Outcome {}
    }

    /** Makes the folder hold exactly these zones. */
    public Outcome publish(Collection<ZoneRecords> zones, Shards shards) {
        return new Outcome.Failed(directory + " is not written yet: " + zones + shards);
    }

    /**
     * Makes the folder hold exactly what ConfigMaps hold.
     *
     * @param configMaps the data of each ConfigMap, by shard
     */
    public Outcome mirror(Map<Integer, Map<String, String>> configMaps) {
        return new Outcome.Failed(directory + " is not written yet: " + configMaps);
    }
}
