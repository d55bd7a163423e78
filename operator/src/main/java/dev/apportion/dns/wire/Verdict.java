package dev.apportion.dns.wire;

import java.util.List;

/** Whether one server answers as it should. */
public sealed interface Verdict {

    /**
     * It does.
     *
     * @param questions how many questions were asked
     */
    record Verified(int questions) implements Verdict {}

    /** It answers, but something else. */
    record Lags(List<Difference> differences) implements Verdict {

        /** Whether no file is known to be another than the published one, so that what differs is the configuration. */
        public boolean hasEveryFile() {
            return differences.stream().noneMatch(Difference::isOtherFile);
        }
    }

    /** It answers the right addresses, but does not draw them by their weights. */
    record IgnoresWeights(List<Difference> differences) implements Verdict {}

    /** It does not answer. */
    record Silent(String reason) implements Verdict {}

    /**
     * One answer that is not as it should be.
     *
     * @param host the host name, or the domain
     * @param stream the label of the stream, empty if the question is not about one
     * @param question the question, for people
     * @param expected what should be answered, for people
     * @param observed what was answered, for people
     * @param isOtherFile whether the serial of another file was answered than of the published one: of an older one, mostly
     */
    record Difference(
            String host, String stream, String question, String expected, String observed, boolean isOtherFile) {}
}
