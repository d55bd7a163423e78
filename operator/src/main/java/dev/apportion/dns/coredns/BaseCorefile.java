package dev.apportion.dns.coredns;

import java.util.OptionalInt;

/**
 * The Corefile that takes in the zones.
 *
 * @param directory the folder with the files, as CoreDNS sees it
 * @param healthPort the port of the liveness check, nothing for none
 * @param readyPort the port of the readiness check, nothing for none
 */
public record BaseCorefile(String directory, OptionalInt healthPort, OptionalInt readyPort) {

    /**
     * The text. A query outside of all zones is refused, since no plugin of the root block answers. Nothing caches: a
     * cache would give one drawn address to everybody.
     */
    public String text() {
        StringBuilder text = new StringBuilder(". {\n");
        healthPort.ifPresent(port -> text.append("  health :").append(port).append('\n'));
        readyPort.ifPresent(port -> text.append("  ready :").append(port).append('\n'));
        // Two seconds is the least; the jitter would only add to it.
        text.append("  reload 2s 0s\n}\n");
        text.append("import ").append(directory).append("/*.conf\n");
        return text.toString();
    }
}
