package dev.apportion.reconcile;

import dev.apportion.allocation.Allocation.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Less than a policy means to give to some replicas: a new one has only a part of its share until it is warm, and one of whose
 * load nothing new is known, while that of others is, gains nothing: others that become busier make nobody idle. The others of the same stream have the rest, in proportion to
 * their shares, so that no answer becomes longer. Where there are no others, nothing is held back. Pure.
 */
final class Restraint {

    /** Shares are computed; what differs by less is equal. */
    private static final double EQUAL = 1e-9;

    /** Of a stream, the part on replicas that were measured last from which on the others gain nothing. */
    private static final double MOST = 0.5;

    private Restraint() {}

    /**
     * The shares of a stream that may be given.
     *
     * @param intended its shares as the policy has them, by the index of the replica
     * @param ready the replicas
     * @param inForce its shares as they are answered now, by the name of the replica; empty where nothing is
     */
    static List<Piece> of(List<Piece> intended, List<Member> ready, Map<String, Double> inForce) {
        boolean known = ready.stream().anyMatch(Restraint::isMeasured);
        double[] shares = new double[intended.size()];
        double sum = 0;
        double renewed = 0;
        for (int i = 0; i < shares.length; i++) {
            Member member = ready.get(intended.get(i).replica());
            shares[i] = intended.get(i).share() * member.warmth();
            sum += shares[i];
            renewed += isRenewed(member) ? shares[i] : 0;
        }
        double[] caps = new double[intended.size()];
        for (int i = 0; i < shares.length; i++) {
            caps[i] = known && !inForce.isEmpty()
                    ? cap(ready.get(intended.get(i).replica()), renewed >= MOST * sum, inForce)
                    : Double.POSITIVE_INFINITY;
        }
        if (sum <= 0) {
            return intended;
        }
        for (int i = 0; i < shares.length; i++) {
            shares[i] /= sum;
        }
        return withhold(shares, caps) ? pieces(intended, shares) : intended;
    }

    private static boolean isMeasured(Member member) {
        return switch (member.load()) {
            case Member.Load.Measured now -> true;
            case Member.Load.Held earlier -> true;
            case Member.Load.Hot all -> true;
            case Member.Load.Declared nothing -> false;
            case Member.Load.Missing nothing -> false;
        };
    }

    /** Whether something was measured last. */
    private static boolean isRenewed(Member member) {
        return switch (member.load()) {
            case Member.Load.Held(String reason, boolean partly) -> partly;
            case Member.Load.Missing nothing -> false;
            case Member.Load.Measured anew -> true;
            case Member.Load.Hot all -> true;
            case Member.Load.Declared nothing -> true;
        };
    }

    /** @param mostAreKnown whether there are enough others to take what those do not gain of whom a measurement is held */
    private static double cap(Member member, boolean mostAreKnown, Map<String, Double> inForce) {
        double now = inForce.getOrDefault(member.name(), 0.0);
        if (member.load() instanceof Member.Load.Missing(String reason, boolean counted)) {
            return now <= 0 && counted ? Double.POSITIVE_INFINITY : now;
        }
        return isRenewed(member) || !mostAreKnown ? Double.POSITIVE_INFINITY : now;
    }

    /** Brings shares below their caps; false if nobody could take the rest. */
    private static boolean withhold(double[] shares, double[] caps) {
        double excess = 0;
        double others = 0;
        for (int i = 0; i < shares.length; i++) {
            if (Double.isInfinite(caps[i])) {
                others += shares[i];
            } else if (shares[i] > caps[i]) {
                excess += shares[i] - caps[i];
            }
        }
        if (excess > 0 && others <= 0) {
            return false;
        }
        for (int i = 0; i < shares.length; i++) {
            shares[i] = Double.isInfinite(caps[i])
                    ? shares[i] * (1 + (others > 0 ? excess / others : 0))
                    : Math.min(shares[i], caps[i]);
        }
        return true;
    }

    private static List<Piece> pieces(List<Piece> intended, double[] shares) {
        List<Piece> pieces = new ArrayList<>();
        boolean same = true;
        for (int i = 0; i < shares.length; i++) {
            Piece piece = intended.get(i);
            same &= Math.abs(shares[i] - piece.share()) < EQUAL;
            if (shares[i] > EQUAL) {
                pieces.add(new Piece(piece.replica(), shares[i]));
            }
        }
        return same ? intended : pieces;
    }
}
