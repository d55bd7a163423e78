package dev.apportion.cli;

import static dev.apportion.cli.Bounds.MOST;
import static dev.apportion.cli.Bounds.MOST_SECONDS;
import static dev.apportion.cli.Bounds.MOST_SERVERS;
import static dev.apportion.cli.Bounds.MOST_SLOTS;
import static dev.apportion.cli.Bounds.PERCENT;
import static dev.apportion.cli.Bounds.above;
import static dev.apportion.cli.Bounds.required;
import static dev.apportion.cli.Bounds.whole;
import static dev.apportion.cli.Bounds.within;

import dev.apportion.cli.ScenarioSpec.ServerSpec;
import dev.apportion.cli.ScenarioSpec.SlowStartSpec;
import dev.apportion.simulation.Server;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes servers of what is written. */
final class ServerReader {

    private ServerReader() {}

    static List<Server> read(@Nullable List<ServerSpec> written) throws Refused {
        List<ServerSpec> specs = required(written, "servers");
        List<Server> servers = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int s = 0; s < specs.size(); s++) {
            String path = "servers[%d]".formatted(s);
            ServerSpec each = required(specs.get(s), path);
            int count = whole(each.count(), 1, path + ".count", 1, MOST_SERVERS);
            String name = each.name() == null ? "server" : each.name();
            String site = each.site() == null ? "main" : each.site();
            double speed = each.speed() == null ? 1 : above(each.speed(), path + ".speed", 0, MOST);
            int slots = whole(each.slots(), 1, path + ".slots", 1, MOST_SLOTS);
            Server.Discipline discipline = each.discipline() == ScenarioSpec.Discipline.Sharing
                    ? Server.Discipline.SHARING
                    : Server.Discipline.FIFO;
            for (int i = 1; i <= count; i++) {
                String own = numbered(name, i, count);
                if (!names.add(own)) {
                    throw new Refused(path + ".name", "two servers have the name \"%s\"".formatted(own));
                }
                servers.add(new Server(
                        own, site, speed, slots, discipline, absence(each, path), slowStart(each.slowStart(), path)));
            }
        }
        if (servers.isEmpty() || servers.size() > MOST_SERVERS) {
            throw new Refused(
                    "servers", "%d: there must be from 1 to %d of them".formatted(servers.size(), MOST_SERVERS));
        }
        return servers;
    }

    /** Numbers that sort as they count. */
    static String numbered(String name, int number, int count) {
        int digits = Integer.toString(count).length();
        return count == 1 ? name : name + "-" + ("%0" + digits + "d").formatted(number);
    }

    private static Optional<Server.Absence> absence(ServerSpec server, String path) throws Refused {
        if (server.absentFrom() == null && server.absentUntil() == null) {
            return Optional.empty();
        }
        double from =
                server.absentFrom() == null ? 0 : within(server.absentFrom(), path + ".absentFrom", 0, MOST_SECONDS);
        double until = server.absentUntil() == null
                ? Double.POSITIVE_INFINITY
                : above(server.absentUntil(), path + ".absentUntil", from, MOST_SECONDS);
        return Optional.of(new Server.Absence(from, until));
    }

    private static Optional<Server.SlowStart> slowStart(@Nullable SlowStartSpec start, String path) throws Refused {
        if (start == null) {
            return Optional.empty();
        }
        String place = path + ".slowStart";
        return Optional.of(new Server.SlowStart(
                above(required(start.seconds(), place + ".seconds"), place + ".seconds", 0, MOST_SECONDS),
                above(required(start.percent(), place + ".percent"), place + ".percent", 0, PERCENT) / PERCENT));
    }
}
