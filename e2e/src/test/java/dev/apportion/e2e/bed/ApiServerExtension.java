package dev.apportion.e2e.bed;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** The parameters of {@link WithApiServer}. */
final class ApiServerExtension implements ParameterResolver {

    private static final Namespace STORE = Namespace.create(ApiServerExtension.class);
    private static final Set<Class<?>> TYPES = Set.of(KubernetesClient.class, Kubectl.class, ApiServer.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return TYPES.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ApiServer server =
                context.getRoot().getStore(STORE).computeIfAbsent(ApiServer.class, type -> start(), ApiServer.class);
        Class<?> type = parameter.getParameter().getType();
        if (type == ApiServer.class) {
            return server;
        }
        TestNamespace namespace = context.getStore(STORE)
                .computeIfAbsent(context.getUniqueId(), id -> TestNamespace.in(server), TestNamespace.class);
        return type == Kubectl.class ? server.kubectl(namespace.name()) : namespace.client();
    }

    private static ApiServer start() {
        try {
            ApiServer server = ApiServer.start(ToolCache.ofThisUser());
            server.install(SourceTree.root().resolve("crds"));
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("Starting the API server", e);
        }
    }

    /** A namespace that lasts as long as the test, or the class, that it was made for. */
    private record TestNamespace(ApiServer server, String name, KubernetesClient client) implements AutoCloseable {

        static TestNamespace in(ApiServer server) {
            String name = server.newNamespace();
            return new TestNamespace(server, name, server.client(name));
        }

        @Override
        public void close() {
            client.close();
            server.deleteNamespace(name);
        }
    }
}
