package dev.apportion.simulation;

/** A quantity that runs measure. */
public enum Metric {
    /** The requests that were served. */
    REQUESTS("requests", "1", "requests served"),
    /** The mean delay of requests, network, waiting and service, in seconds. */
    DELAY("delay", "s", "mean delay"),
    DELAY_P50("delayP50", "s", "median delay"),
    DELAY_P95("delayP95", "s", "delay that 95 % do not exceed"),
    DELAY_P99("delayP99", "s", "delay that 99 % do not exceed"),
    DELAY_MAX("delayMax", "s", "largest delay"),
    /** The mean time until service begins, in seconds; unknown where it begins at once but slowly. */
    WAIT("wait", "s", "mean wait until service begins"),
    /** The part of requests that met a server which was gone. */
    LOST("lost", "1", "part of requests that were lost"),
    /** The part of requests that were served away from home. */
    REMOTE("remote", "1", "part of requests served away from home"),
    /** The largest utilisation over the mean one, of the servers. */
    IMBALANCE("imbalance", "1", "largest load over mean load"),
    /** The coefficient of variation of the servers' utilisations. */
    LOAD_VARIATION("loadVariation", "1", "coefficient of variation of the servers' loads"),
    /** The largest load that the published integer weights give a server. */
    MAKESPAN("makespan", "1", "largest planned load"),
    /** The makespan over its lower bound, less one. */
    GAP("gap", "1", "planned makespan above its lower bound"),
    /** The addresses in all answers, over the number of populations. */
    COPIES("copies", "1", "addresses per population"),
    /** The part of requests that were answered from a resolver's cache. */
    CACHED("cached", "1", "part of requests answered from a cache"),
    /** The part of the traffic that changes of the plan moved, all together. */
    MOVED("moved", "1", "part of the traffic moved by new plans"),
    /** The part of the requests that went to servers which had just come. */
    NEWCOMER_SHARE("newcomerShare", "1", "part of requests sent to a server that has just come"),
    /** The mean delay of those requests, in seconds. */
    NEWCOMER_DELAY("newcomerDelay", "s", "mean delay at a server that has just come"),
    /** The most requests in a row that went to a server which had just come. */
    NEWCOMER_RUN("newcomerRun", "1", "most requests in a row sent to a server that has just come"),
    /** The part of requests that wait longer than a target; at all, if there is none. */
    WAITED("waited", "1", "part of requests that wait longer than the target"),
    /** The mean wait that Erlang's formula gives, where it applies, in seconds. */
    WAIT_MODEL("waitModel", "s", "mean wait by Erlang's C formula");

    private final String id;
    private final String unit;
    private final String meaning;

    Metric(String id, String unit, String meaning) {
        this.id = id;
        this.unit = unit;
        this.meaning = meaning;
    }

    /** Its name in scenarios and output. */
    public String id() {
        return id;
    }

    /** Its unit; 1 for a number or a part. */
    public String unit() {
        return unit;
    }

    /** What it is, for people. */
    public String meaning() {
        return meaning;
    }
}
