/** What DNS shall say: zones, hosts, streams and answers as values, and what changes between two of them. Pure. */
@NullMarked
package dev.apportion.records;

import org.jspecify.annotations.NullMarked;
