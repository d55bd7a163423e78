package dev.apportion.reconcile;

import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import inet.ipaddr.IPAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * One stream of one service, ready to be allocated.
 *
 * @param service the TrafficService
 * @param stream the name of the TrafficStream, empty for the implicit one
 * @param keyName the name below the service's host name, where it is one of the stream's keys; empty where it is none
 * @param hostname the canonical host name that its clients ask for
 * @param rate requests/s; zero when nothing is known
 * @param declared whether somebody has stated the rate; otherwise it may be estimated from what is measured
 * @param maxReplicas k, the most replicas that its answers may use; empty for the default of the kind of answers
 * @param answers how many addresses one response holds
 * @param ttlSeconds how long resolvers keep an answer
 * @param sites the sites that may serve it; empty for all
 * @param home the site that is local to its clients; empty if none is
 * @param clients the address blocks that its clients ask from; empty for everyone else
 */
public record Demand(
        Ref service,
        String stream,
        String keyName,
        String hostname,
        double rate,
        boolean declared,
        OptionalInt maxReplicas,
        Answers answers,
        int ttlSeconds,
        Set<String> sites,
        Optional<String> home,
        List<IPAddress> clients) {

    /** A stream whose rate is stated. */
    public Demand(
            Ref service,
            String stream,
            String keyName,
            String hostname,
            double rate,
            OptionalInt maxReplicas,
            Answers answers,
            int ttlSeconds,
            Set<String> sites,
            Optional<String> home,
            List<IPAddress> clients) {
        this(service, stream, keyName, hostname, rate, true, maxReplicas, answers, ttlSeconds, sites, home, clients);
    }

    /** The same stream with an estimate of its rate. */
    Demand estimated(double estimate) {
        return new Demand(
                service,
                stream,
                keyName,
                hostname,
                estimate,
                declared,
                maxReplicas,
                answers,
                ttlSeconds,
                sites,
                home,
                clients);
    }

    /** Its name for people. */
    String readable() {
        return service + " " + (stream.isEmpty() ? "(everyone else)" : stream) + (isKey() ? " " + keyName : "");
    }

    /**
     * Its name in the allocation problem, unique within a pool. Policies may place a key by its name, so that of a key does not
     * depend on the stream that lists it.
     */
    String key() {
        return key(service.toString(), stream, keyName);
    }

    /** The same of a host that is published. */
    static String key(Host host, String stream) {
        return key(host.owner(), stream, host.isKey() ? host.key() : "");
    }

    private static String key(String service, String stream, String keyName) {
        return service + "/" + (keyName.isEmpty() ? stream : "/" + keyName);
    }

    public boolean isKey() {
        return !keyName.isEmpty();
    }
}
