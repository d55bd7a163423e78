package dev.apportion.simulation;

import java.util.Optional;

/** What the network adds. */
final class Network {
    private final double bandwidth;
    private final double remoteDelay;
    private final double[] delay;
    private final boolean[][] remote;

    Network(Setting setting) {
        bandwidth = setting.bandwidth();
        remoteDelay = setting.remoteDelay();
        delay = setting.populations().stream().mapToDouble(Population::delay).toArray();
        boolean homes =
                setting.populations().stream().anyMatch(each -> each.home().isPresent());
        remote = new boolean[homes ? delay.length : 0][];
        for (int p = 0; p < remote.length; p++) {
            Optional<String> home = setting.populations().get(p).home();
            remote[p] = new boolean[setting.servers().size()];
            for (int i = 0; i < remote[p].length; i++) {
                remote[p][i] = home.isPresent()
                        && !home.get().equals(setting.servers().get(i).site());
            }
        }
    }

    boolean isRemote(int population, int server) {
        return remote.length > 0 && remote[population][server];
    }

    double delay(int population, int server, double size) {
        return delay[population] + size / bandwidth + (isRemote(population, server) ? remoteDelay : 0);
    }
}
