package dev.apportion.dns.externaldns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The DNSEndpoint of a TrafficService, the custom resource that ExternalDNS reads. */
public final class DnsEndpoint {

    public static final String API_VERSION = "externaldns.k8s.io/v1alpha1";

    public static final String KIND = "DNSEndpoint";

    /** How the API server calls them. */
    public static final ResourceDefinitionContext CONTEXT = new ResourceDefinitionContext.Builder()
            .withGroup("externaldns.k8s.io")
            .withVersion("v1alpha1")
            .withKind(KIND)
            .withPlural("dnsendpoints")
            .withNamespaced(true)
            .build();

    /** What all of them are labelled with. */
    public static final Map<String, String> LABELS = Map.of("apportion.dev/part-of", "external-dns");

    static final String STATE = "apportion.dev/state";
    static final String EPOCH = "apportion.dev/epoch";

    private static final int LONGEST_NAME = 253;
    private static final int HASH_OCTETS = 5;
    private static final ObjectMapper JSON = new ObjectMapper();

    private DnsEndpoint() {}

    /** The name of a service's DNSEndpoint: readable, stable, and no name that somebody else would choose. */
    public static String name(String namespace, String service) {
        String hash = hash(namespace + "/" + service);
        int readable = LONGEST_NAME - hash.length() - 1;
        return service.substring(0, Math.min(service.length(), readable)) + "-" + hash;
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, HASH_OCTETS);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /** The reference that has it deleted with its TrafficService. */
    public static OwnerReference owner(String apiVersion, String kind, String name, String uid) {
        return new OwnerReferenceBuilder()
                .withApiVersion(apiVersion)
                .withKind(kind)
                .withName(name)
                .withUid(uid)
                .withController(true)
                .build();
    }

    /**
     * The object.
     *
     * @throws IllegalArgumentException if a host cannot be said in the dialect; the message is for people
     */
    static GenericKubernetesResource of(EndpointState state, Optional<OwnerReference> owner, long epoch) {
        int slash = state.service().indexOf('/');
        String namespace = state.service().substring(0, slash);
        return new GenericKubernetesResourceBuilder()
                .withApiVersion(API_VERSION)
                .withKind(KIND)
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name(namespace, state.service().substring(slash + 1)))
                .withLabels(LABELS)
                .addToAnnotations(STATE, state.write())
                .addToAnnotations(EPOCH, Long.toString(epoch))
                .withOwnerReferences(owner.stream().toList())
                .endMetadata()
                .addToAdditionalProperties("spec", spec(state.endpoints()))
                .build();
    }

    /**
     * The object as somebody else may apply it: without what only the operator needs.
     *
     * @throws IllegalArgumentException if a host cannot be said in the dialect; the message is for people
     */
    public static GenericKubernetesResource manifest(EndpointState state) {
        GenericKubernetesResource whole = of(state, Optional.empty(), 0);
        whole.getMetadata().setAnnotations(null);
        whole.getMetadata().setLabels(null);
        whole.getMetadata().setOwnerReferences(null);
        return whole;
    }

    private static Map<String, Object> spec(List<Endpoint> endpoints) {
        List<Map<String, Object>> entries = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("dnsName", endpoint.dnsName());
            entry.put("recordType", endpoint.recordType());
            entry.put("recordTTL", endpoint.ttlSeconds());
            entry.put("targets", endpoint.targets());
            endpoint.member().ifPresent(member -> {
                entry.put("setIdentifier", member.setIdentifier());
                entry.put("providerSpecific", List.of(weight(member)));
            });
            entries.add(entry);
        }
        return Map.of("endpoints", entries);
    }

    private static Map<String, Object> weight(Endpoint.Member member) {
        Map<String, Object> property = new LinkedHashMap<>();
        property.put("name", "aws/weight");
        property.put("value", Integer.toString(member.weight()));
        return property;
    }

    /**
     * What one of ours says; nothing where it is not ours, or cannot be read. Whoever may write DNSEndpoints of his own namespace
     * speaks for services of that namespace only.
     */
    public static Optional<EndpointState> state(GenericKubernetesResource endpoint) {
        String text = annotation(endpoint, STATE);
        try {
            return text.isEmpty()
                    ? Optional.empty()
                    : Optional.of(EndpointState.read(text)).filter(state -> isOf(endpoint, state));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static boolean isOf(GenericKubernetesResource endpoint, EndpointState state) {
        String namespace = endpoint.getMetadata().getNamespace();
        return state.service().startsWith(namespace + "/")
                && name(namespace, state.service().substring(namespace.length() + 1))
                        .equals(endpoint.getMetadata().getName())
                && state.hosts().stream().allMatch(host -> host.owner().equals(state.service()));
    }

    static String annotation(GenericKubernetesResource endpoint, String name) {
        return Objects.requireNonNullElse(endpoint.getMetadata().getAnnotations(), Map.<String, String>of())
                .getOrDefault(name, "");
    }

    static boolean isOurs(GenericKubernetesResource endpoint) {
        return Objects.requireNonNullElse(endpoint.getMetadata().getLabels(), Map.<String, String>of())
                .entrySet()
                .containsAll(LABELS.entrySet());
    }

    /** Whether two say the same to ExternalDNS, to the garbage collection, and to whoever reads them back. */
    static boolean isSame(GenericKubernetesResource one, GenericKubernetesResource other) {
        return annotation(one, STATE).equals(annotation(other, STATE))
                && owners(one).equals(owners(other))
                && specOf(one).equals(specOf(other));
    }

    private static List<String> owners(GenericKubernetesResource endpoint) {
        return Objects.requireNonNullElse(endpoint.getMetadata().getOwnerReferences(), List.<OwnerReference>of())
                .stream()
                .map(OwnerReference::getUid)
                .toList();
    }

    private static JsonNode specOf(GenericKubernetesResource endpoint) {
        return JSON.valueToTree(endpoint.getAdditionalProperties().get("spec"));
    }
}
