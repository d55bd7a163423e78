package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Kubectl;

/**
 * Pods that traffic is sent to: each answers HTTP on port 8080 ({@code /} with its name, {@code /ready}, and {@code /metrics} with
 * {@code http_requests_total} and {@code http_requests_in_flight}), behind a Service of the same name.
 */
public record TrafficPods(Kubectl kubectl, String name) {

    /** Starts pods and waits until all are ready. */
    static TrafficPods start(Kubectl kubectl, String image, String name, int replicas) {
        kubectl.runWith(manifest(name, replicas, image), "apply", "-f", "-").orThrow();
        TrafficPods pods = new TrafficPods(kubectl, name);
        pods.awaitReady();
        return pods;
    }

    /** Changes how many pods there are, and waits until that is so. */
    public void scale(int replicas) {
        kubectl.run("scale", "deployment/" + name, "--replicas=" + replicas).orThrow();
        awaitReady();
    }

    /** Waits until the pods are as many as were asked for, and ready. */
    public void awaitReady() {
        kubectl.run("rollout", "status", "deployment/" + name, "--timeout=120s").orThrow();
    }

    private static String manifest(String name, int replicas, String image) {
        return """
            apiVersion: v1
            kind: Service
            metadata: {name: %1$s}
            spec:
              selector: {app: %1$s}
              ports: [{name: http, port: 80, targetPort: http}]
            ---
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: %1$s}
            spec:
              replicas: %2$d
              selector: {matchLabels: {app: %1$s}}
              template:
                metadata: {labels: {app: %1$s}}
                spec:
                  terminationGracePeriodSeconds: 5
                  containers:
                  - name: traffic
                    image: %3$s
                    args: [serve]
                    ports: [{name: http, containerPort: 8080}]
                    resources: {requests: {cpu: 5m, memory: 8Mi}, limits: {memory: 64Mi}}
                    readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 1}
                    securityContext:
                      runAsNonRoot: true
                      runAsUser: 65532
                      allowPrivilegeEscalation: false
                      readOnlyRootFilesystem: true
                      capabilities: {drop: [ALL]}
            """.formatted(name, replicas, image);
    }
}
