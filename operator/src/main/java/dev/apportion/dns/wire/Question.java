package dev.apportion.dns.wire;

import org.xbill.DNS.Name;

/**
 * A question with a chosen id.
 *
 * @param name the absolute name
 * @param type the type's number
 * @param id the id of the query, 0..65535
 */
public record Question(Name name, int type, int id) {}
