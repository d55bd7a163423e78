/** What the build of the container image needs beside the program. */
@NullMarked
package dev.apportion.image;

import org.jspecify.annotations.NullMarked;
