package dev.apportion.reconcile;

import dev.apportion.api.DNSZone;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficStream;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import java.util.Collection;

/** Calls for the reconciliation of resources whose inputs changed elsewhere. */
final class Signals {

    final SimpleInboundEventSource<DNSZone> zones = new SimpleInboundEventSource<>("zone-signals");
    final SimpleInboundEventSource<ReplicaPool> pools = new SimpleInboundEventSource<>("pool-signals");
    final SimpleInboundEventSource<TrafficService> services = new SimpleInboundEventSource<>("service-signals");
    final SimpleInboundEventSource<TrafficStream> streams = new SimpleInboundEventSource<>("stream-signals");

    static <P extends HasMetadata> void raise(SimpleInboundEventSource<P> source, Collection<Ref> refs) {
        refs.forEach(ref -> source.propagateEvent(new ResourceID(ref.name(), ref.namespace())));
    }
}
