package dev.apportion.records;

/** How many addresses one response of a host holds. */
public enum Answers {
    /** One address, drawn by weight: shares that survive every resolver. */
    Single,
    /** All addresses of the stream, the first one drawn by weight. */
    List,
    /** One address, drawn by the server in a way of its own, by weights from 1 to 255: nothing of the query decides. */
    Drawn
}
