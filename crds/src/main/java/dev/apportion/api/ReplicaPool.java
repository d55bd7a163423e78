package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** Replicas, what they can bear, and how streams are spread over them: one allocation problem. */
@Group("apportion.dev")
@Version("v1alpha1")
@Categories("dns")
@JsonClassDescription(
        "A ReplicaPool is a set of replicas, what they can bear, and how streams of traffic are spread over" + " them.")
@AdditionalPrinterColumn(name = "Policy", jsonPath = ".spec.policy.type", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
        name = "Replicas",
        jsonPath = ".status.replicas.ready",
        type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Makespan", jsonPath = ".status.makespan", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Gap", jsonPath = ".status.optimalityGap", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Ready", jsonPath = Columns.READY, type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Age", jsonPath = Columns.AGE, type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Reason",
        jsonPath = Columns.REASON,
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
public final class ReplicaPool extends ApportionResource<ReplicaPoolSpec, ReplicaPoolStatus> {}
