package dev.apportion.health;

import java.net.InetAddress;

/** An address that is checked. */
public record Target(InetAddress address, HealthCheck check) {}
