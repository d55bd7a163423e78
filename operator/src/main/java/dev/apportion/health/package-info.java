/** Endpoints that nobody else looks after are asked whether they are well. */
@NullMarked
package dev.apportion.health;

import org.jspecify.annotations.NullMarked;
