/** How records become DNS: where names stand, which slot a query draws, and which clients belong to which stream. Pure. */
@NullMarked
package dev.apportion.dns;

import org.jspecify.annotations.NullMarked;
