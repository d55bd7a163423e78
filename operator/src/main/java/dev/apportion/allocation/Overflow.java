package dev.apportion.allocation;

import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Problem.Replica;
import dev.apportion.allocation.Problem.Stream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** What one run of {@link GlobalQueue} sends from home to other sites. */
final class Overflow {

    /*
     * The algorithm. A site is an M/M/c queue whose servers are the slots of its ready replicas (ErlangC).
     *
     * 1. Streams with a home are put there, those without one on all their sites, by the optimal split (KSplittable).
     * 2. The common wait is the target, if the sites that wait for less have room for what the others have too much;
     *    otherwise the least wait at which they have, as in one global queue; and if all of them together are overloaded,
     *    there is room as long as a slot is idle. A site overflows by what it has above the common wait.
     * 3. By Little's law a rate that is served away occupies rate × service time places of the link: if that is more than the
     *    budget, every site overflows by the same part of what it would.
     * 4. The largest streams overflow first, so that few answers change, each to the sites with the most idle slots. A
     *    stream of which no part can have a record of its own (k = 1) stays, or goes as a whole.
     */

    /** The part of the target that home is relieved to without reclaim. */
    private static final double RELIEF = 0.5;

    /** Doublings of a wait in search for one that all sites can have; beyond, it counts as infinite. */
    private static final int DOUBLINGS = 40;

    private static final int HALVINGS = 40;

    /** Parts of a stream below this are rounding errors. */
    private static final double NEGLIGIBLE = 1e-9;

    private static final double MILLIS = 1000;

    private static final double PERCENT = 100;

    private final GlobalQueue policy;
    private final List<Replica> replicas;
    private final List<Stream> streams;
    private final List<List<Piece>> pieces;
    private final SortedMap<String, Site> sites = new TreeMap<>();
    private final double[] load;

    /** A site and what is known of it. */
    private static final class Site {
        final String name;
        final List<Integer> replicas = new ArrayList<>();
        long slots;

        /** The rate that it serves. */
        double rate;

        /** The rate of its own streams that may be served elsewhere. */
        double movable;

        /** The rate of its own streams that is served elsewhere. */
        double away;

        /** The rate that it serves for other sites. */
        double taken;

        /** The wait if all its own streams were at home, and none of the others'. */
        double waitAtHome;

        Site(String name) {
            this.name = name;
        }

        double wait(double serviceTime) {
            return new ErlangC(slots, rate, serviceTime).meanWait();
        }

        double idle(double serviceTime) {
            return slots - rate * serviceTime;
        }
    }

    /** What a site is to take over. */
    private record Taking(Site site, double rate) {}

    Overflow(Problem problem, GlobalQueue policy) {
        this.policy = policy;
        replicas = problem.replicas();
        streams = problem.streams();
        for (int i = 0; i < replicas.size(); i++) {
            Site site = sites.computeIfAbsent(replicas.get(i).site(), Site::new);
            site.replicas.add(i);
            site.slots += Math.max(1, replicas.get(i).concurrency());
        }
        pieces = new ArrayList<>(new KSplittable()
                .allocate(new Problem(
                        replicas,
                        streams.stream()
                                .map(stream -> new Stream(
                                        stream.name(),
                                        stream.rate(),
                                        stream.maxReplicas(),
                                        home(stream)
                                                .map(home -> Set.of(home.name))
                                                .orElse(stream.sites())))
                                .toList()))
                .streams());
        load = new double[replicas.size()];
        for (int j : bySize()) {
            put(j, 1);
            Stream stream = streams.get(j);
            home(stream).filter(home -> mayLeave(stream, home)).ifPresent(home -> home.movable += stream.rate());
        }
        sites.values().forEach(site -> site.waitAtHome = site.wait(policy.serviceTime()));
    }

    /** The pieces of each stream. */
    List<List<Piece>> pieces() {
        return Collections.unmodifiableList(pieces);
    }

    /** The site that is local to a stream, if it has a replica that may serve the stream. */
    private Optional<Site> home(Stream stream) {
        return stream.home()
                .filter(home -> mayServe(stream, home))
                .flatMap(home -> Optional.ofNullable(sites.get(home)));
    }

    private static boolean mayServe(Stream stream, String site) {
        return stream.sites().isEmpty() || stream.sites().contains(site);
    }

    private boolean mayLeave(Stream stream, Site home) {
        return sites.keySet().stream().anyMatch(site -> !site.equals(home.name) && mayServe(stream, site));
    }

    /** The streams with a rate, the largest first. */
    private List<Integer> bySize() {
        List<Integer> order = new ArrayList<>();
        for (int j = 0; j < streams.size(); j++) {
            if (streams.get(j).rate() > 0) {
                order.add(j);
            }
        }
        order.sort(Comparator.<Integer>comparingDouble(j -> -streams.get(j).rate())
                .thenComparing(j -> streams.get(j).name()));
        return order;
    }

    private Site siteOf(int replica) {
        return Objects.requireNonNull(sites.get(replicas.get(replica).site()));
    }

    /** Adds a stream to what its replicas and sites bear, or takes it away. */
    private void put(int stream, int sign) {
        for (Piece piece : pieces.get(stream)) {
            double rate = sign * streams.get(stream).rate() * piece.share();
            siteOf(piece.replica()).rate += rate;
            load[piece.replica()] += rate / replicas.get(piece.replica()).capacity();
        }
    }

    /** Sends away what has to go. */
    void run() {
        double wait = commonWait();
        Map<Site, Double> leaving = new HashMap<>();
        double sum = 0;
        for (Site site : sites.values()) {
            double excess = excess(site, wait);
            leaving.put(site, excess);
            sum += excess;
        }
        if (!(sum > 0)) {
            return;
        }
        double part = Math.min(1, policy.linkBudget() / (sum * policy.serviceTime()));
        leaving.replaceAll((site, excess) -> excess * part);
        Map<Site, Double> most = new HashMap<>();
        for (Site site : sites.values()) {
            most.put(site, rateAt(site, wait));
        }
        for (int j : bySize()) {
            home(streams.get(j)).ifPresent(home -> {
                double left = Objects.requireNonNull(leaving.get(home));
                leaving.put(home, left - send(j, home, left, most));
            });
        }
    }

    private double rateAt(Site site, double wait) {
        return ErlangC.rateAt(site.slots, policy.serviceTime(), wait);
    }

    /** What a site has too much, when sites may have a wait. */
    private double excess(Site site, double wait) {
        if (site.movable == 0 || site.waitAtHome <= policy.targetWait()) {
            return 0;
        }
        double kept = rateAt(site, policy.reclaim() ? wait : wait * RELIEF);
        return Math.min(site.movable, Math.max(0, site.rate - kept));
    }

    private boolean hasRoom(double wait) {
        double balance = 0;
        for (Site site : sites.values()) {
            balance += Math.max(0, rateAt(site, wait) - site.rate) - excess(site, wait);
        }
        return balance >= 0;
    }

    private double commonWait() {
        double low = policy.targetWait();
        if (hasRoom(low)) {
            return low;
        }
        double high = Math.max(low, policy.serviceTime() * NEGLIGIBLE);
        for (int i = 0; !hasRoom(high); i++) {
            if (i == DOUBLINGS) {
                return Double.POSITIVE_INFINITY;
            }
            low = high;
            high *= 2;
        }
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (low + high) / 2;
            if (hasRoom(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return high;
    }

    /**
     * Sends a part of a stream to other sites.
     *
     * @param left what still has to leave its home
     * @param most the rate that each site may serve
     * @return what leaves
     */
    private double send(int stream, Site home, double left, Map<Site, Double> most) {
        Stream sent = streams.get(stream);
        double rate = sent.rate();
        int k = Math.max(1, sent.maxReplicas());
        double wanted = k == 1 && left < rate ? 0 : Math.min(rate, left);
        if (wanted <= rate * NEGLIGIBLE) {
            return 0;
        }
        List<Piece> atHome = pieces.get(stream);
        int records = wanted < rate
                ? Math.max(k - atHome.size(), (int) Math.clamp(Math.rint(k * (wanted / rate)), 1, k - 1))
                : k;
        List<Taking> takings = takings(sent, home, wanted, records, most);
        if (records == k && sum(takings) < rate * (1 - NEGLIGIBLE)) {
            // Not all of it finds room; what stays needs a record.
            records--;
            takings = takings(sent, home, wanted, records, most);
        }
        double moved = Math.min(rate, sum(takings));
        if (moved <= rate * NEGLIGIBLE) {
            return 0;
        }
        records = Math.min(
                records,
                takings.stream()
                        .mapToInt(taking -> taking.site().replicas.size())
                        .sum());
        double part = moved < rate * (1 - NEGLIGIBLE) ? moved / rate : 1;
        put(stream, -1);
        List<Piece> now = away(takings, records, part);
        if (part < 1) {
            now.addAll(kept(atHome, k - records, 1 - part));
        }
        now.sort(Comparator.comparing(piece -> replicas.get(piece.replica()).name()));
        pieces.set(stream, List.copyOf(now));
        put(stream, 1);
        home.away += moved;
        return moved;
    }

    private static double sum(List<Taking> takings) {
        return takings.stream().mapToDouble(Taking::rate).sum();
    }

    /**
     * Which sites take over how much of a stream, the largest part first: so that the idle slots of all are level.
     *
     * @param count how many sites there may be; the most idle ones are taken
     */
    private List<Taking> takings(Stream stream, Site home, double wanted, int count, Map<Site, Double> most) {
        record Room(Site site, double rate, double idle) {
            double above(double level, double serviceTime) {
                return Math.clamp((idle - level) / serviceTime, 0, rate);
            }
        }
        List<Room> rooms = new ArrayList<>();
        for (Site site : sites.values()) {
            double room = Objects.requireNonNull(most.get(site)) - site.rate;
            if (site != home && room > 0 && mayServe(stream, site.name)) {
                rooms.add(new Room(site, room, site.idle(policy.serviceTime())));
            }
        }
        rooms.sort(Comparator.comparingDouble((Room room) -> -room.idle()));
        if (rooms.size() > count) {
            rooms.subList(count, rooms.size()).clear();
        }
        double low = 0;
        double high = rooms.isEmpty() ? 0 : rooms.getFirst().idle();
        boolean enough = rooms.stream().mapToDouble(Room::rate).sum() > wanted;
        for (int i = 0; i < HALVINGS && enough; i++) {
            double middle = (low + high) / 2;
            double sum = 0;
            for (Room room : rooms) {
                sum += room.above(middle, policy.serviceTime());
            }
            if (sum >= wanted) {
                low = middle;
            } else {
                high = middle;
            }
        }
        double level = low;
        List<Taking> takings = new ArrayList<>();
        for (Room room : rooms) {
            double rate = room.above(level, policy.serviceTime());
            if (rate > wanted * NEGLIGIBLE) {
                takings.add(new Taking(room.site(), rate));
            }
        }
        double scale = Math.min(1, wanted / sum(takings));
        return takings.stream()
                .map(taking -> new Taking(taking.site(), taking.rate() * scale))
                .sorted(Comparator.<Taking>comparingDouble(taking -> -taking.rate())
                        .thenComparing(taking -> taking.site().name))
                .toList();
    }

    /** The largest pieces of a stream, as a part of it. */
    private List<Piece> kept(List<Piece> before, int count, double part) {
        List<Piece> largest = before.stream()
                .sorted(Comparator.comparingDouble((Piece piece) -> -piece.share())
                        .thenComparing(piece -> replicas.get(piece.replica()).name()))
                .limit(count)
                .toList();
        double sum = largest.stream().mapToDouble(Piece::share).sum();
        return largest.stream()
                .map(piece -> new Piece(piece.replica(), piece.share() / sum * part))
                .toList();
    }

    /** Pieces on the least loaded replicas of the sites that take over. */
    private List<Piece> away(List<Taking> takings, int records, double part) {
        int[] counts = new int[takings.size()];
        for (int r = 0; r < records; r++) {
            int next = -1;
            for (int t = 0; t < counts.length; t++) {
                if (counts[t] < takings.get(t).site().replicas.size()
                        && (next < 0
                                || takings.get(t).rate() / counts[t]
                                        > takings.get(next).rate() / counts[next])) {
                    next = t;
                }
            }
            if (next >= 0) {
                counts[next]++;
            }
        }
        double all = sum(takings);
        List<Piece> away = new ArrayList<>();
        for (int t = 0; t < counts.length; t++) {
            Taking taking = takings.get(t);
            List<Integer> least = taking.site().replicas.stream()
                    .sorted(Comparator.comparingDouble((Integer i) -> load[i])
                            .thenComparing(i -> replicas.get(i).name()))
                    .limit(counts[t])
                    .toList();
            double capacity =
                    least.stream().mapToDouble(i -> replicas.get(i).capacity()).sum();
            for (int i : least) {
                double share = part * (taking.rate() / all) * (replicas.get(i).capacity() / capacity);
                if (share > 0) {
                    away.add(new Piece(i, share));
                }
            }
            taking.site().taken += taking.rate();
        }
        return away;
    }

    /** What was predicted for the site of each replica. */
    List<String> reasons() {
        if (streams.isEmpty()) {
            return Collections.nCopies(replicas.size(), "");
        }
        Map<Site, String> ofSite = new HashMap<>();
        for (Site site : sites.values()) {
            StringBuilder text = new StringBuilder();
            text.append(String.format(
                    Locale.ROOT,
                    "%d slots in %s: with its own streams at home a wait of %s",
                    site.slots,
                    site.name,
                    millis(site.waitAtHome)));
            if (site.away > 0) {
                text.append(", so %s requests/s of them are served elsewhere".formatted(decimal(site.away)));
            }
            if (site.taken > 0) {
                text.append("; %s requests/s come from elsewhere".formatted(decimal(site.taken)));
            }
            if (site.away > 0 || site.taken > 0) {
                text.append(String.format(
                        Locale.ROOT,
                        "; now %.0f %% busy, a wait of %s",
                        PERCENT * (1 - site.idle(policy.serviceTime()) / site.slots),
                        millis(site.wait(policy.serviceTime()))));
            }
            ofSite.put(site, text.toString());
        }
        List<String> reasons = new ArrayList<>();
        for (int i = 0; i < replicas.size(); i++) {
            reasons.add(Objects.requireNonNull(ofSite.get(siteOf(i))));
        }
        return List.copyOf(reasons);
    }

    private static String millis(double seconds) {
        return Double.isInfinite(seconds) ? "without end" : decimal(seconds * MILLIS) + " ms";
    }

    /** Three digits, or all before the point. */
    private static String decimal(double value) {
        return String.format(Locale.ROOT, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
    }
}
