package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/** One row of a stream's answer, as it is published. */
public record Answer(
        @JsonPropertyDescription("The address that clients are given.")
        String address,

        @JsonPropertyDescription("The name of the replica that has the address.")
        String replica,

        @JsonPropertyDescription("The whole number that is published as the address's weight.")
        int weight,

        @JsonPropertyDescription(
                "The part of the stream's answers that name this address, from 0 to 1, as a decimal text.")
        String share) {}
