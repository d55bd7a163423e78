package dev.apportion.reconcile;

import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolSpec;
import dev.apportion.api.ReplicaPoolStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Plans pools. */
final class ReplicaPoolReconciler implements Reconciler<ReplicaPool> {

    private final Desk desk;
    private final Signals signals;
    private final Statuses statuses;
    private final StatusWriter writer;
    private final NoisyStatuses noisy = new NoisyStatuses(System::nanoTime);

    ReplicaPoolReconciler(Desk desk, Signals signals, Statuses statuses, StatusWriter writer) {
        this.desk = desk;
        this.signals = signals;
        this.statuses = statuses;
        this.writer = writer;
    }

    @Override
    public List<EventSource<?, ReplicaPool>> prepareEventSources(EventSourceContext<ReplicaPool> context) {
        InformerEventSource<EndpointSlice, ReplicaPool> slices = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(EndpointSlice.class, ReplicaPool.class)
                        .withName("endpoint-slices")
                        .withNamespacesInheritedFromController()
                        .withSecondaryToPrimaryMapper(this::poolsOf)
                        .build(),
                context);
        slices.addIndexers(Map.of(ClusterWorld.BY_SERVICE, ClusterWorld::serviceOf));
        InformerEventSource<Pod, ReplicaPool> pods = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Pod.class, ReplicaPool.class)
                        .withName("pods")
                        .withNamespacesInheritedFromController()
                        // By name, because that is how a pod is looked up.
                        .withItemStore(new ReducedStateItemStore<>(
                                ReducedStateItemStore.NAME_KEY_STATE,
                                Pod.class,
                                context.getClient().getKubernetesSerialization(),
                                "metadata.annotations",
                                "status.phase",
                                "status.startTime"))
                        .withSecondaryToPrimaryMapper(pod -> poolsIn(pod, found -> true))
                        .withOnAddFilter(pod -> !declarations(pod).isEmpty() || World.hasEnded(pod))
                        .withOnUpdateFilter(
                                (after, before) -> !declarations(after).equals(declarations(before))
                                        || World.hasEnded(after) != World.hasEnded(before))
                        .withOnDeleteFilter((pod, unknown) -> false)
                        .build(),
                context);
        InformerEventSource<Service, ReplicaPool> services = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Service.class, ReplicaPool.class)
                        .withName("services")
                        .withNamespacesInheritedFromController()
                        .withItemStore(new ReducedStateItemStore<>(
                                ReducedStateItemStore.NAME_KEY_STATE,
                                Service.class,
                                context.getClient().getKubernetesSerialization(),
                                "status.loadBalancer"))
                        .withSecondaryToPrimaryMapper(service ->
                                poolsIn(service, service.getMetadata().getName()::equals))
                        .build(),
                context);
        InformerEventSource<Node, ReplicaPool> nodes = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Node.class, ReplicaPool.class)
                        .withName("nodes")
                        .withWatchAllNamespaces()
                        .withItemStore(new ReducedStateItemStore<>(
                                ReducedStateItemStore.NAME_KEY_STATE,
                                Node.class,
                                context.getClient().getKubernetesSerialization(),
                                "status.addresses"))
                        .withSecondaryToPrimaryMapper(node -> poolsOnNodes())
                        // Nodes say every few minutes that they are alive.
                        .withOnUpdateFilter((after, before) -> !addresses(after).equals(addresses(before)))
                        .build(),
                context);
        desk.world().pools = context.getPrimaryCache();
        desk.world().kubernetesServices = services;
        desk.world().nodes = nodes;
        desk.world().endpointSlices = slices;
        desk.world().pods = pods;
        return List.of(
                slices,
                pods,
                services,
                nodes,
                signals.pools,
                new PrimaryChanges<>("pool-changes", this::changed, writer));
    }

    private void changed(@Nullable ReplicaPool before, @Nullable ReplicaPool after) {
        if (after == null && before != null) {
            desk.forgetPlan(Ref.of(before));
        }
        desk.poolChanged(before, after);
    }

    /** What a pod says of itself to Apportion. */
    private static Map<String, String> declarations(Pod pod) {
        Map<String, String> annotations =
                Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
        return annotations.entrySet().stream()
                .filter(annotation -> annotation.getKey().equals(Members.CAPACITY_ANNOTATION)
                        || annotation.getKey().equals(Members.DRAIN_ANNOTATION))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static List<NodeAddress> addresses(Node node) {
        return node.getStatus() == null
                ? List.of()
                : Objects.requireNonNullElse(node.getStatus().getAddresses(), List.of());
    }

    /** The pools that publish nodes. */
    private Set<ResourceID> poolsOnNodes() {
        return desk.world().pools().stream()
                .filter(pool -> pool.getSpec() != null
                        && pool.getSpec().sites().stream()
                                .anyMatch(site -> site.service() != null
                                        && site.service().publish() == ReplicaPoolSpec.Publish.Nodes))
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }

    private Set<ResourceID> poolsOf(EndpointSlice slice) {
        Optional<Ref> service = World.serviceOf(slice);
        return service.isEmpty()
                ? Set.of()
                : poolsIn(slice, name -> name.equals(service.get().name()));
    }

    /** The pools of a namespace with a site whose Service's name fits. */
    private Set<ResourceID> poolsIn(HasMetadata resource, Predicate<String> service) {
        return desk.world().pools().stream()
                .filter(pool -> pool.getMetadata()
                        .getNamespace()
                        .equals(resource.getMetadata().getNamespace()))
                .filter(pool -> pool.getSpec() != null
                        && pool.getSpec().sites().stream()
                                .anyMatch(site -> site.service() != null
                                        && service.test(site.service().name())))
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }

    @Override
    public ErrorStatusUpdateControl<ReplicaPool> updateErrorStatus(
            ReplicaPool resource, Context<ReplicaPool> context, Exception e) {
        return StatusWriter.afterFailure(e);
    }

    @Override
    public UpdateControl<ReplicaPool> reconcile(ReplicaPool pool, Context<ReplicaPool> context) {
        if (!desk.isOpen()) {
            return UpdateControl.noUpdate();
        }
        Judged<AdmittedPool> judged = desk.admission().pools().get(Ref.of(pool));
        if (judged == null) {
            return UpdateControl.noUpdate();
        }
        desk.check(Ref.of(pool), judged.value());
        if (judged.value().isEmpty()) {
            desk.rest(Ref.of(pool));
        }
        Optional<PoolPlan> plan = judged.value().map(desk::plan);
        writer.recall(pool);
        ReplicaPoolStatus status = statuses.pool(pool, judged, plan, desk.lastChange(Ref.of(pool)), desk.world());
        Optional<Duration> quiet = judged.value()
                .flatMap(AdmittedPool::load)
                .flatMap(load -> noisy.wait(pool.getMetadata().getUid(), pool.getStatus(), status));
        UpdateControl<ReplicaPool> update = quiet.isPresent()
                ? UpdateControl.<ReplicaPool>noUpdate().rescheduleAfter(quiet.get())
                : write(pool, status);
        Optional<Duration> again = judged.value().flatMap(desk::again);
        Stream.concat(update.getScheduleDelay().map(Duration::ofMillis).stream(), again.stream())
                .min(Duration::compareTo)
                .ifPresent(update::rescheduleAfter);
        return update;
    }

    private UpdateControl<ReplicaPool> write(ReplicaPool pool, ReplicaPoolStatus status) {
        if (!status.equals(pool.getStatus())) {
            noisy.written(pool.getMetadata().getUid());
        }
        return writer.write(pool, new ReplicaPool(), status);
    }
}
