package dev.apportion.cli;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** The version that the jar's manifest states. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        String version = Version.class.getPackage().getImplementationVersion();
        return new String[] {"apportion " + Objects.requireNonNullElse(version, "(not packaged)")};
    }
}
