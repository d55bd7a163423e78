package dev.apportion.simulation;

import dev.apportion.allocation.LeastConnectionsRun;
import java.util.stream.IntStream;

/** The shipping scheduler, whose connections close when requests end; it begins anew when a server comes or goes. */
final class ConnectionsRouter implements Router {
    private final Setting setting;
    private final Dispatch.Connections connections;
    private final Station[] stations;
    private int[] there = new int[0];
    private LeastConnectionsRun run;

    ConnectionsRouter(Setting setting, Dispatch.Connections connections, Station[] stations) {
        this.setting = setting;
        this.stations = stations;
        this.connections = connections;
        run = begin(0);
    }

    private LeastConnectionsRun begin(double time) {
        there = setting.present(time);
        return new LeastConnectionsRun(
                IntStream.of(there)
                        .mapToDouble(i -> setting.servers().get(i).capacity(1))
                        .toArray(),
                IntStream.of(there).mapToDouble(i -> stations[i].present()).toArray(),
                connections.maxContinuousAllocations(),
                connections.round());
    }

    @Override
    public int route(double time, int from, int resolver) {
        if (there.length == 0) {
            return -1;
        }
        for (int p = 0; p < there.length; p++) {
            Station station = stations[there[p]];
            station.advance(time);
            double closed = run.connections(p) - station.present();
            if (closed > 0) {
                run.close(p, closed);
            }
        }
        return there[run.allocate()];
    }

    @Override
    public double due(double time) {
        if (time > 0) {
            for (Station station : stations) {
                station.advance(time);
            }
            run = begin(time);
        }
        return setting.nextChange(time, 0);
    }
}
