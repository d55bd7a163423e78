package dev.apportion.simulation;

import dev.apportion.allocation.Allocation;
import dev.apportion.allocation.Allocation.Piece;
import dev.apportion.allocation.Assessment;
import dev.apportion.allocation.Change;
import dev.apportion.allocation.IntegerWeights;
import dev.apportion.allocation.LeastChange;
import dev.apportion.allocation.Occasion;
import dev.apportion.allocation.Problem;
import dev.apportion.allocation.Resolution;
import dev.apportion.allocation.Running;
import dev.apportion.allocation.Sample;
import dev.apportion.allocation.SlotWeights;
import dev.apportion.records.Addresses;
import dev.apportion.records.Answer;
import dev.apportion.records.HostStream;
import dev.apportion.records.Parsed;
import inet.ipaddr.IPAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/** What the DNS server answers each population: allocated, repaired and rounded as the operator does it. */
final class Answering {

    /** The largest weight of CoreDNS' loadbalance plugin. */
    private static final int LIST_MAX_WEIGHT = 255;

    private static final int OCTET = 256;

    private final Setting setting;
    private final Dispatch.Dns dns;
    private final List<IPAddress> addresses = new ArrayList<>();
    private final Map<IPAddress, Integer> serverOf = new HashMap<>();

    /** The servers of each population's answers, by address. */
    private final int[][] servers;

    /** The sums of the weights up to each of them. */
    private final int[][] sums;

    /** What each of them has in hand, where they come first in turn. */
    private final int[][] inHand;

    private Running running = Running.NOTHING;
    double moved;
    double makespan;
    double gap;
    double copies;

    Answering(Setting setting, Dispatch.Dns dns) {
        this.setting = setting;
        this.dns = dns;
        servers = new int[setting.populations().size()][0];
        sums = new int[servers.length][0];
        inHand = new int[servers.length][0];
        for (int i = 0; i < setting.servers().size(); i++) {
            IPAddress address = address(i);
            addresses.add(address);
            serverOf.put(address, i);
        }
    }

    /** An address of the block that is kept for measurements (RFC 2544). */
    private static IPAddress address(int server) {
        String text = "198.%d.%d.%d".formatted(18 + server / OCTET / OCTET, server / OCTET % OCTET, server % OCTET);
        return switch (Addresses.parse(text)) {
            case Parsed.Value<IPAddress>(IPAddress address) -> address;
            case Parsed.Invalid<IPAddress>(String problem) -> throw new IllegalArgumentException(problem);
        };
    }

    /**
     * Plans anew.
     *
     * @param there the servers that are known to be there
     * @param measured what was measured of each server
     */
    void plan(List<Integer> there, List<Sample> measured, Occasion occasion) {
        Problem problem = new Problem(
                there.stream()
                        .map(i -> {
                            Server server = setting.servers().get(i);
                            double capacity = server.capacity(setting.size().mean());
                            return new Problem.Replica(
                                    server.name(), server.site(), capacity, server.slots(), measured.get(i));
                        })
                        .toList(),
                setting.populations().stream()
                        .map(population -> new Problem.Stream(
                                population.name(),
                                population.rate(),
                                Math.min(dns.maxReplicas(), Math.max(1, there.size())),
                                Set.of(),
                                population.home(),
                                dns.ttl()))
                        .toList());
        Change change = LeastChange.of(
                problem, running, dns.policy().allocate(problem), dns.policy().aim(), dns.tolerance(), occasion);
        moved += running.shares().isEmpty() ? 0 : change.effect().moved();
        publish(problem, there, change.effect().allocation());
    }

    private void publish(Problem problem, List<Integer> there, Allocation allocation) {
        Map<String, Map<String, Double>> shares = new HashMap<>();
        List<List<Piece>> published = new ArrayList<>();
        long records = 0;
        for (int j = 0; j < servers.length; j++) {
            List<Piece> pieces = allocation.streams().get(j);
            int[] weights = weights(pieces.stream().mapToDouble(Piece::share).toArray());
            List<Answer> answers = new ArrayList<>();
            List<Piece> rounded = new ArrayList<>();
            Map<String, Double> parts = new HashMap<>();
            double sum = 0;
            for (int weight : weights) {
                sum += weight;
            }
            for (int p = 0; p < weights.length; p++) {
                if (weights[p] > 0) {
                    int server = there.get(pieces.get(p).replica());
                    String name = setting.servers().get(server).name();
                    answers.add(new Answer(addresses.get(server), name, weights[p]));
                    rounded.add(new Piece(pieces.get(p).replica(), weights[p] / sum));
                    parts.put(name, pieces.get(p).share());
                }
            }
            String name = setting.populations().get(j).name();
            shares.put(name, parts);
            published.add(rounded);
            records += answers.size();
            take(j, new HostStream(name, name, List.of(), answers));
        }
        running = new Running(shares);
        Assessment assessment = Assessment.of(problem, published, allocation);
        makespan = assessment.makespan();
        gap = assessment.optimalityGap();
        copies = servers.length == 0 ? 0 : (double) records / servers.length;
    }

    private int[] weights(double[] shares) {
        if (shares.length == 0) {
            return new int[0];
        }
        return switch (dns.answers()) {
            case Single -> SlotWeights.of(shares);
            case List, Drawn -> IntegerWeights.of(shares, new Resolution.AtMost(LIST_MAX_WEIGHT));
        };
    }

    private void take(int population, HostStream stream) {
        List<Answer> answers = stream.answers(false).toList();
        int[] to = new int[answers.size()];
        int[] upTo = new int[to.length];
        int sum = 0;
        for (int a = 0; a < to.length; a++) {
            to[a] = Optional.ofNullable(serverOf.get(answers.get(a).address())).orElseThrow();
            sum += answers.get(a).weight();
            upTo[a] = sum;
        }
        servers[population] = to;
        sums[population] = upTo;
        inHand[population] = new int[upTo.length];
    }

    /** The servers of a population's answers, by address; not to be changed. */
    int[] servers(int population) {
        return servers[population];
    }

    /** The weight of the server at a place among those of a population. */
    int weight(int population, int place) {
        int[] upTo = sums[population];
        return place == 0 ? upTo[0] : upTo[place] - upTo[place - 1];
    }

    /** The place, among the servers of a population, that comes first in the next answer; -1 if there is none. */
    int first(int population, RandomGenerator random) {
        return switch (dns.order()) {
            case DRAWN -> draw(population, random);
            case IN_TURN -> turn(population);
        };
    }

    /** Each gets its weight; who has most in hand is first, and pays the weights of all (nginx). */
    private int turn(int population) {
        int[] hand = inHand[population];
        int first = -1;
        for (int place = 0; place < hand.length; place++) {
            hand[place] += weight(population, place);
            if (first < 0 || hand[place] > hand[first]) {
                first = place;
            }
        }
        if (first >= 0) {
            hand[first] -= sums[population][hand.length - 1];
        }
        return first;
    }

    private int draw(int population, RandomGenerator random) {
        int[] upTo = sums[population];
        if (upTo.length <= 1) {
            return upTo.length - 1;
        }
        int point = random.nextInt(upTo[upTo.length - 1]);
        int at = 0;
        while (upTo[at] <= point) {
            at++;
        }
        return at;
    }
}
