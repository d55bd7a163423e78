/** The custom resources of {@code apportion.dev/v1alpha1} as Java types; the manifests in {@code crds/} are generated from them. */
@NullMarked
package dev.apportion.api;

import org.jspecify.annotations.NullMarked;
