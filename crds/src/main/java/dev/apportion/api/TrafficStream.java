package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** A part of a service's traffic that DNS can tell apart. */
@Group("apportion.dev")
@Version("v1alpha1")
@Categories("dns")
@JsonClassDescription("A TrafficStream is a part of a TrafficService's traffic that DNS can tell apart: by the clients'"
        + " addresses, or by the names that they ask for.")
@AdditionalPrinterColumn(
        name = "Service",
        jsonPath = ".spec.serviceRef.name",
        type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Rate", jsonPath = ".status.rate", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Ready", jsonPath = Columns.READY, type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Age", jsonPath = Columns.AGE, type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Reason",
        jsonPath = Columns.REASON,
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
public final class TrafficStream extends ApportionResource<TrafficStreamSpec, TrafficStreamStatus> {}
