package dev.apportion.records;

import inet.ipaddr.IPAddress;
import java.util.Comparator;

/**
 * One address that clients of a stream are given.
 *
 * @param address the address, IPv4 or IPv6
 * @param replica the name of the replica that it belongs to
 * @param weight its weight among the answers of the same family, greater than zero
 */
public record Answer(IPAddress address, String replica, int weight) {

    /** IPv4 before IPv6, then by the number of the address: the order in which answers are written everywhere. */
    public static final Comparator<Answer> ORDER =
            Comparator.comparing((Answer answer) -> answer.address().isIPv6()).thenComparing(Answer::address);
}
