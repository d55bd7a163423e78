package dev.apportion.api;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** A domain, and where its records are written. */
@Group("apportion.dev")
@Version("v1alpha1")
@Categories("dns")
@JsonClassDescription("A DNSZone is a domain, and where its records are written: the CoreDNS configuration or the"
        + " ExternalDNS endpoints that answer for it.")
@AdditionalPrinterColumn(name = "Domain", jsonPath = ".spec.domain", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Services", jsonPath = ".status.services", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Serial", jsonPath = ".status.serial", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Ready", jsonPath = Columns.READY, type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Age", jsonPath = Columns.AGE, type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Reason",
        jsonPath = Columns.REASON,
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
public final class DNSZone extends ApportionResource<DNSZoneSpec, DNSZoneStatus> {}
