package dev.apportion.dns.wire;

import org.xbill.DNS.Message;

/** What came back to a question. */
public sealed interface Reply {

    /** A response. */
    record Answered(Message message) implements Reply {}

    /** No response that belongs to the question; the reason is for people. */
    record Silent(String reason) implements Reply {}
}
