package dev.apportion.allocation;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes what is too much from a replica, by chains of streams that take each other's place and end where room is: along records
 * that a stream has already, then by a new record or by a whole piece. The chain by which least moves goes first; what was
 * moved before and goes back counts as negative.
 */
final class Chains {

    private static final double ROUNDING = Placement.ROUNDING;

    /** Chains end that take less than this part away of what is too much, which may be lost among larger numbers. */
    private static final double LEAST_PROGRESS = 1e-6;

    /** What may move more for each unit if that saves a new record. */
    private static final double RECORD = 0.03;

    /** Streams that take each other's place in one chain. */
    private static final int LONGEST = 4;

    /** Replicas from which chains go on. */
    private static final int WIDEST = 64;

    /** A chain that takes less than this part away of what is too much is not worth it. */
    private static final double LEAST_PART = 1e-3;

    private final Instance in;
    private final Placement placement;

    Chains(Placement placement) {
        this.placement = placement;
        in = placement.in;
    }

    /**
     * A replica that could do with more of what another one has too much of.
     *
     * @param before where it comes from; null for the replica that has too much
     * @param stream what comes
     * @param price what moves for each unit
     * @param amount how much can come
     */
    private record Link(int replica, @Nullable Link before, int stream, double price, double amount) {

        int start() {
            return before == null ? replica : before.start();
        }

        boolean passes(int other) {
            return replica == other || (before != null && before.passes(other));
        }

        boolean uses(int other) {
            return stream == other || (before != null && before.uses(other));
        }

        boolean isBetterThan(@Nullable Link other) {
            return other == null
                    || price < other.price - ROUNDING
                    || (price <= other.price + ROUNDING && amount > other.amount * (1 + ROUNDING));
        }
    }

    /**
     * Moves along links that end where room is.
     *
     * @param stream what goes from the last replica to one that it does not use; −1 if the last replica has room itself
     * @param amount what the first replica has less
     * @param shift what of the stream goes
     * @param price what moves for each unit of the amount
     */
    private record Chain(Link last, int stream, int to, double amount, double shift, double price) {}

    /** Relieves a replica; returns whether it has not too much any more. */
    boolean relieve(int replica) {
        double[] room = placement.room;
        while (placement.isAbove(replica) && !placement.isTired()) {
            Chain chain = cheapest(replica);
            if (chain == null) {
                break;
            }
            double before = room[replica];
            pull(chain);
            if (!(room[replica] > before - before * LEAST_PROGRESS)) {
                break;
            }
        }
        return !placement.isAbove(replica);
    }

    /** The chain from a replica to one with room by which least moves for what it takes away. */
    private @Nullable Chain cheapest(int replica) {
        List<Link> layer = List.of(new Link(replica, null, -1, 0, -placement.room[replica]));
        Map<Integer, Link> known = new HashMap<>();
        known.put(replica, layer.getFirst());
        Chain best = null;
        for (int length = 0; length <= LONGEST && !layer.isEmpty(); length++) {
            for (Link link : layer) {
                best = end(link, best);
            }
            if (best != null && best.price() <= (length == 0 ? 1 : 1 + RECORD) * (1 + ROUNDING)) {
                break;
            }
            layer = length < LONGEST ? beyond(layer, known, best) : List.of();
        }
        return best;
    }

    /** The replicas, one stream further, to which a way is better than those that are known. */
    private List<Link> beyond(List<Link> layer, Map<Integer, Link> known, @Nullable Chain best) {
        Map<Integer, Link> next = new TreeMap<>();
        double most = best == null ? Double.POSITIVE_INFINITY : best.price();
        for (Link link : layer) {
            double least = -placement.room[link.start()] * LEAST_PART;
            for (int stream : placement.on(link.replica())) {
                if (link.uses(stream)) {
                    continue;
                }
                for (int p = 0; p < placement.at(stream).length; p++) {
                    Link further = further(link, stream, p);
                    int to = further.replica();
                    if (to != link.replica()
                            && further.amount() > least
                            && further.price() < most
                            && further.isBetterThan(known.get(to))
                            && !link.passes(to)) {
                        known.put(to, further);
                        next.put(to, further);
                    }
                }
            }
        }
        return next.values().stream()
                .sorted(Comparator.comparingDouble(Link::price)
                        .thenComparing(Comparator.comparingDouble(Link::amount).reversed())
                        .thenComparingInt(link -> in.nameRank(link.replica())))
                .limit(WIDEST)
                .toList();
    }

    /** From a replica to another one of a stream on it, by its position. */
    private Link further(Link link, int stream, int position) {
        placement.worked(1);
        double first = placement.first(stream, link.replica());
        double there = placement.amountOn(stream, link.replica());
        boolean returns = there > first * (1 + ROUNDING);
        double may = Math.min(link.amount(), returns ? there - first : there);
        int to = placement.at(stream)[position];
        double missing = placement.first(stream, to) - placement.amounts(stream)[position];
        boolean home = missing > in.rate[stream] * ROUNDING;
        double price = link.price() + (returns ? 0 : 1) - (home ? 1 : 0);
        return new Link(to, link, stream, price, home ? Math.min(may, missing) : may);
    }

    /** The best of a chain and of those that end at a link: where room is, by a new record, or by a whole piece. */
    private @Nullable Chain end(Link link, @Nullable Chain known) {
        int replica = link.replica();
        double room = placement.room[replica];
        Chain best = known;
        if (room > 0) {
            best = better(best, new Chain(link, -1, -1, Math.min(link.amount(), room), 0, link.price()));
        }
        if (best != null && best.price() <= link.price() + ROUNDING) {
            return best;
        }
        for (int stream : placement.on(replica)) {
            int to = link.uses(stream) ? -1 : placement.idlest(stream);
            if (to >= 0 && placement.room[to] > 0 && !link.passes(to)) {
                best = byPiece(link, stream, to, byRecord(link, stream, to, best));
            }
        }
        return best;
    }

    private @Nullable Chain byRecord(Link link, int stream, int to, @Nullable Chain known) {
        double piece = placement.amountOn(stream, link.replica());
        double first = placement.first(stream, link.replica());
        double room = placement.room[to];
        boolean returns = piece > first * (1 + ROUNDING);
        double part = Math.min(Math.min(link.amount(), returns ? piece - first : piece), room);
        double least = in.rate[stream] * Placement.LEAST_SHARE;
        double shift = Math.min(Math.max(part, least), Math.min(piece, room));
        if (!placement.mayHaveMore(stream) || !(part > 0) || shift < least) {
            return known;
        }
        double price = link.price() + RECORD + (returns ? 0 : shift / part);
        return better(known, new Chain(link, stream, to, part, shift, price));
    }

    private @Nullable Chain byPiece(Link link, int stream, int to, @Nullable Chain known) {
        double piece = placement.amountOn(stream, link.replica());
        if (!(piece > 0) || piece > placement.room[to]) {
            return known;
        }
        double taken = Math.min(link.amount(), piece);
        double lost =
                Math.min(piece, placement.first(stream, link.replica())) - Math.min(piece, placement.first(stream, to));
        return better(known, new Chain(link, stream, to, taken, piece, link.price() + lost / taken));
    }

    private @Nullable Chain better(@Nullable Chain a, Chain b) {
        if (!(b.amount() > -placement.room[b.last().start()] * LEAST_PROGRESS)) {
            return a;
        }
        boolean better = a == null
                || b.price() < a.price() - ROUNDING
                || (b.price() <= a.price() + ROUNDING && b.amount() > a.amount() * (1 + ROUNDING));
        return better ? b : a;
    }

    /** Moves from the end backwards, so that room is there when it is needed. */
    private void pull(Chain chain) {
        if (chain.stream() >= 0) {
            placement.move(chain.stream(), chain.last().replica(), chain.to(), chain.shift());
        }
        boolean last = true;
        for (Link link = chain.last(); link.before() != null; link = link.before()) {
            int from = link.before().replica();
            double shift = Math.min(placement.amountOn(link.stream(), from), chain.amount());
            placement.move(link.stream(), from, link.replica(), last ? withoutCrumbs(link, from, shift) : shift);
            last = false;
        }
    }

    /** Takes a piece as a whole where what is left of it would be lost among integer weights. */
    private double withoutCrumbs(Link link, int from, double shift) {
        double piece = placement.amountOn(link.stream(), from);
        boolean crumb = piece - shift < in.rate[link.stream()] * Placement.LEAST_SHARE;
        return crumb && placement.room[link.replica()] >= piece ? piece : shift;
    }
}
