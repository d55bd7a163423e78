package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** A host name that a pool serves. */
@Group("apportion.dev")
@Version("v1alpha1")
@Categories("dns")
@JsonClassDescription("A TrafficService is a host name in a DNSZone that the replicas of a ReplicaPool serve.")
@AdditionalPrinterColumn(name = "Host", jsonPath = ".spec.hostname", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Zone", jsonPath = ".spec.zoneRef.name", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Pool", jsonPath = ".spec.poolRef.name", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Ready", jsonPath = Columns.READY, type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Age", jsonPath = Columns.AGE, type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Reason",
        jsonPath = Columns.REASON,
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
public final class TrafficService extends ApportionResource<TrafficServiceSpec, TrafficServiceStatus> {}
