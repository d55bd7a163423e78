package dev.apportion.e2e.bed;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a Kubernetes API server, with the project's custom resource definitions installed. It is started for the
 * first class that asks, and is the same for all classes of a run; what is in a test's own namespace goes with the test.
 *
 * <p>Parameters that a test may have: {@link io.fabric8.kubernetes.client.KubernetesClient} and {@link Kubectl}, both set to the test's
 * fresh namespace, and {@link ApiServer}. The parameters of a constructor or a {@code @BeforeAll} method get a namespace of the class.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ApiServerExtension.class)
public @interface WithApiServer {}
