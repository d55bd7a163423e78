package dev.apportion.e2e.kind;

import dev.apportion.e2e.bed.Kubectl;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** The parameters of {@link WithCluster}, and what is kept of a test that fails. */
final class ClusterExtension
        implements ExecutionCondition,
                ParameterResolver,
                TestExecutionExceptionHandler,
                LifecycleMethodExecutionExceptionHandler {

    /** The system property with which there being no cluster is a failure. */
    static final String REQUIRED = "e2e.require";

    private static final Namespace STORE = Namespace.create(ClusterExtension.class);
    private static final Set<Class<?>> TYPES = Set.of(KubernetesClient.class, Kubectl.class, Cluster.class);

    /** Skips the class where there can be no cluster, which is no fault of what is tested. */
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return context.getTestMethod().isPresent()
                ? ConditionEvaluationResult.enabled("its class has a cluster")
                : attempt(context)
                        .noCluster()
                        .map(reason -> ConditionEvaluationResult.disabled("There is no cluster: " + reason))
                        .orElseGet(() -> ConditionEvaluationResult.enabled("a cluster was made, or has to be"));
    }

    private static Attempt attempt(ExtensionContext context) {
        return context.getRoot().getStore(STORE).computeIfAbsent(Attempt.class, type -> Attempt.make(), Attempt.class);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return TYPES.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Cluster cluster = attempt(context).orThrow();
        Class<?> type = parameter.getParameter().getType();
        if (type == Cluster.class) {
            return cluster;
        }
        TestNamespace namespace = context.getStore(STORE)
                .computeIfAbsent(context.getUniqueId(), id -> TestNamespace.in(cluster), TestNamespace.class);
        return type == Kubectl.class ? cluster.kubectl(namespace.name()) : namespace.client();
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        keepLogs(context);
        throw failure;
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        keepLogs(context);
        throw failure;
    }

    @Override
    public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        keepLogs(context);
        throw failure;
    }

    private static void keepLogs(ExtensionContext context) {
        Attempt attempt = context.getRoot().getStore(STORE).get(Attempt.class, Attempt.class);
        if (attempt != null && attempt.cluster() != null) {
            String test = context.getRequiredTestClass().getSimpleName()
                    + context.getTestMethod()
                            .map(method -> "." + method.getName())
                            .orElse("");
            attempt.cluster().keepLogs(test);
        }
    }

    /** The one attempt of a run to make a cluster: what failed for one class would fail for the next one too, minutes later. */
    private record Attempt(
            @Nullable Cluster cluster, @Nullable Throwable failure) implements AutoCloseable {

        // Whatever went wrong is to be told by each test.
        @SuppressWarnings("IllegalCatch")
        static Attempt make() {
            try {
                return new Attempt(Cluster.create(), null);
            } catch (NoClusterException none) {
                System.out.printf(
                        "THE TESTS ON A WHOLE CLUSTER ARE %s: %s%n",
                        isRequired() ? "REQUIRED, BUT" : "SKIPPED (-D" + REQUIRED + " makes that a failure)",
                        none.getMessage());
                return new Attempt(null, none);
            } catch (Exception | AssertionError failure) {
                return new Attempt(null, failure);
            }
        }

        private static boolean isRequired() {
            String value = System.getProperty(REQUIRED);
            return value != null && !value.equals("false");
        }

        /** Why there can be none, if that is all right. */
        Optional<String> noCluster() {
            return failure instanceof NoClusterException && !isRequired()
                    ? Optional.ofNullable(failure.getMessage())
                    : Optional.empty();
        }

        Cluster orThrow() {
            if (cluster == null) {
                throw new AssertionError("There is no cluster", failure);
            }
            return cluster;
        }

        @Override
        public void close() {
            if (cluster != null) {
                cluster.close();
            }
        }
    }

    /** A namespace that lasts as long as the test, or the class, that it was made for. */
    private record TestNamespace(Cluster cluster, String name, KubernetesClient client) implements AutoCloseable {

        static TestNamespace in(Cluster cluster) {
            String name = cluster.newNamespace();
            return new TestNamespace(cluster, name, cluster.client(name));
        }

        @Override
        public void close() {
            client.close();
            cluster.deleteNamespace(name);
        }
    }
}
