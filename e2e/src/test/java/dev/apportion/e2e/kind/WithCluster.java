package dev.apportion.e2e.kind;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a kind cluster of two nodes. It is made for the first class that asks, and is the same for all classes of a
 * run; what is in a test's own namespace goes with the test. Where this machine can have none, the class is skipped and the reason printed;
 * with the system property {@code e2e.require} that is a failure. Of a test that fails, the logs of all pods and nodes are kept in
 * {@code e2e/target/e2e-logs}.
 *
 * <p>Parameters that a test may have: {@link io.fabric8.kubernetes.client.KubernetesClient} and {@link dev.apportion.e2e.bed.Kubectl},
 * both set to the test's fresh namespace, and {@link Cluster}. The parameters of a constructor or a {@code @BeforeAll} method get a
 * namespace of the class.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ClusterExtension.class)
public @interface WithCluster {}
