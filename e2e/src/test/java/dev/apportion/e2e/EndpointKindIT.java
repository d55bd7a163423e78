package dev.apportion.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.e2e.bed.ApiServer;
import dev.apportion.e2e.bed.ExternalDns;
import dev.apportion.e2e.bed.Kubectl;
import dev.apportion.e2e.bed.WithApiServer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Without the kind that ExternalDNS reads everything else works, and what needs it says so, until it comes. */
@WithApiServer
class EndpointKindIT {

    private static final String ENDPOINTS = """
        apiVersion: apportion.dev/v1alpha1
        kind: DNSZone
        metadata: {name: aws}
        spec: {domain: aws.example, externalDNS: {dialect: Route53}}
        ---
        apiVersion: apportion.dev/v1alpha1
        kind: TrafficService
        metadata: {name: aws}
        spec: {zoneRef: {name: aws}, hostname: shop.aws.example, poolRef: {name: core}}
        """;

    @Test
    void zonesOfExternalDnsWaitForItsKindAndRecoverByThemselves(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        ExternalDns.installDefinition(server);
        ExternalDns.removeDefinition(server);
        try (Product product = Product.start(server, kubectl, folder, "--route53-interval", "PT0.2S")) {
            product.apply(ENDPOINTS);
            product.applyPair("core");
            product.awaitVerified("core");
            product.awaitReady("dnszone/core");
            product.awaitCondition("dnszone/aws", "Programmed", "False EndpointKindMissing");
            product.awaitCondition("trafficservice/aws", "Programmed", "False EndpointKindMissing");
            product.awaitCondition("trafficservice/aws", "Ready", "False EndpointKindMissing");
            assertThat(product.condition("dnszone/aws", "Programmed")).contains("DNSEndpoint", "install");

            ExternalDns.installDefinition(server);
            product.awaitReady("dnszone/aws", "trafficservice/aws");
            String first = endpoint(product);
            assertThat(first).contains("192.0.2.1", "192.0.2.2", "aws/weight");

            ExternalDns.removeDefinition(server);
            product.awaitCondition("trafficservice/aws", "Programmed", "False EndpointKindMissing");
            ExternalDns.installDefinition(server);
            product.awaitReady("dnszone/aws", "trafficservice/aws");
            assertThat(endpoint(product)).isEqualTo(first);
            assertThat(product.condition("dnszone/core", "Ready")).startsWith("True");
        } finally {
            ExternalDns.installDefinition(server);
        }
    }

    @Test
    void aServiceThatMovesToAnotherZoneKeepsItsDnsEndpoint(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        ExternalDns.installDefinition(server);
        try (Product product = Product.start(server, kubectl, folder, "--route53-interval", "PT0.2S")) {
            product.applyPair("core");
            product.apply(ENDPOINTS);
            product.apply("""
                apiVersion: apportion.dev/v1alpha1
                kind: DNSZone
                metadata: {name: lua}
                spec: {domain: lua.example, externalDNS: {dialect: PowerDNS}}
                """);
            product.awaitReady("trafficservice/aws");
            String uid = uid(product);

            for (String to : new String[] {"lua", "aws", "lua"}) {
                product.kubectl(
                        "patch",
                        "trafficservice/aws",
                        "--type=merge",
                        "-p",
                        "{\"spec\":{\"zoneRef\":{\"name\":\"%1$s\"},\"hostname\":\"shop.%1$s.example\"}}"
                                .formatted(to));
                product.await(
                        () -> endpoint(product),
                        found -> found.contains("shop." + to + ".example"),
                        "what the zone %s says".formatted(to));
            }
            assertThat(uid(product)).isEqualTo(uid);
            product.awaitReady("trafficservice/aws", "dnszone/aws", "dnszone/lua");
        }
    }

    private static String uid(Product product) {
        return product.kubectl("get", "dnsendpoints", "-o", "jsonpath={.items[*].metadata.uid}");
    }

    @Test
    void whatIsPublishedIsTheStateAndStaysWhenItsPoolGoes(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        ExternalDns.installDefinition(server);
        try (Product product = Product.start(server, kubectl, folder, "--route53-interval", "PT0.2S")) {
            product.applyPair("core");
            product.apply(ENDPOINTS);
            product.awaitReady("trafficservice/aws");
            String first = endpoint(product);
            String version = version(product);

            product.stopOperator();
            product.kubectl("delete", "replicapool/core");
            product.startOperator();
            product.awaitCondition("trafficservice/aws", "Programmed", "True PoolNotReady");
            assertThat(endpoint(product)).isEqualTo(first);
            assertThat(version(product)).isEqualTo(version);

            // A hand is no plan.
            product.kubectl(
                    "patch", "dnsendpoints/" + name(product), "--type=merge", "-p", "{\"spec\":{\"endpoints\":[]}}");
            product.await(() -> endpoint(product), first::equals, "what was there before");
            product.kubectl("delete", "dnsendpoints/" + name(product));
            product.applyPair("core");
            product.await(() -> endpoint(product), first::equals, "what was there before");

            product.kubectl(
                    "patch", "dnszone/aws", "--type=merge", "-p", "{\"spec\":{\"externalDNS\":null,\"coreDNS\":{}}}");
            product.await(() -> endpoint(product), String::isEmpty, "no DNSEndpoint of a zone that CoreDNS answers");
            product.kubectl(
                    "patch",
                    "dnszone/aws",
                    "--type=merge",
                    "-p",
                    "{\"spec\":{\"coreDNS\":null,\"externalDNS\":{\"dialect\":\"Route53\"}}}");
            product.await(
                    () -> endpoint(product),
                    found -> found.contains("192.0.2.1") && found.contains("192.0.2.2"),
                    "a DNSEndpoint again");
            product.kubectl("delete", "dnszone/aws");
            product.await(() -> endpoint(product), String::isEmpty, "no DNSEndpoint of a zone that is gone");
        }
    }

    @Test
    void aZoneOfRoute53ChangesOnceInAWhileUnlessAReplicaIsGone(ApiServer server, Kubectl kubectl, @TempDir Path folder)
            throws IOException {
        ExternalDns.installDefinition(server);
        try (Product product = Product.start(server, kubectl, folder, "--route53-interval", "PT1H")) {
            product.applyPair("core");
            product.apply(ENDPOINTS);
            product.awaitReady("trafficservice/aws");
            String first = endpoint(product);

            product.setCapacity("core", 300);
            product.awaitCondition("trafficservice/aws", "Programmed", "True Deferred");
            product.awaitCondition("dnszone/aws", "Programmed", "True Deferred");
            assertThat(endpoint(product)).isEqualTo(first);
            product.awaitCondition("trafficservice/aws", "Ready", "True");

            product.kubectl(
                    "patch",
                    "replicapool/core",
                    "--type=json",
                    "-p",
                    "[{\"op\":\"add\",\"path\":\"/spec/sites/0/endpoints/1/drain\",\"value\":true}]");
            product.await(
                    () -> endpoint(product),
                    found -> found.contains("192.0.2.1") && !found.contains("192.0.2.2"),
                    "the end of the one that is gone");
        }
    }

    private static String endpoint(Product product) {
        return product.kubectl("get", "dnsendpoints", "-o", "jsonpath={.items[*].spec}");
    }

    private static String name(Product product) {
        return product.kubectl("get", "dnsendpoints", "-o", "jsonpath={.items[0].metadata.name}");
    }

    private static String version(Product product) {
        return product.kubectl("get", "dnsendpoints", "-o", "jsonpath={.items[0].metadata.resourceVersion}");
    }
}
