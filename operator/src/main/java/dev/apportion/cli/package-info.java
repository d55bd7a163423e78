/** The command line: {@code apportion operator | sync | local | plan}. */
@NullMarked
package dev.apportion.cli;

import org.jspecify.annotations.NullMarked;
