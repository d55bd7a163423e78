package dev.apportion.reconcile;

import dev.apportion.dns.Serial;
import dev.apportion.dns.Shards;
import dev.apportion.dns.coredns.Claim;
import dev.apportion.dns.coredns.ConfigMapPublisher;
import dev.apportion.dns.coredns.CoreDnsLayout;
import dev.apportion.dns.coredns.Publication;
import dev.apportion.dns.coredns.ShardChange;
import dev.apportion.dns.coredns.ShardState;
import dev.apportion.reconcile.ZoneStanding.Write;
import dev.apportion.records.Host;
import dev.apportion.records.ZoneRecords;
import dev.apportion.telemetry.Meters;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Makes the ConfigMaps of a zone say what DNS shall say: the one place that writes records. */
final class ZonePublisher {

    private static final Logger LOG = LoggerFactory.getLogger(ZonePublisher.class);

    /** The first pause after another writer was faster: everything is looked at again then, for that writer may know more. */
    private static final Duration AFTER_FENCE = Duration.ofMillis(100);

    private static final Duration AFTER_FAILURE = Duration.ofMillis(500);

    /** The first pause where a ConfigMap must not be written that is not in the cache, so that no event tells of its change. */
    private static final Duration AFTER_REFUSAL = Duration.ofSeconds(2);

    /** How often a pause is doubled while the same goes on: up to 16 s after failures. */
    private static final int MOST_DOUBLINGS = 5;

    /** Nobody waits for a removal as somebody waits for new answers. */
    private static final Duration AFTER_FAILED_REMOVAL = Duration.ofSeconds(5);

    private static final Pattern SHARD_NAME = Pattern.compile("(.+)-\\d+");

    private final KubernetesClient client;
    private final ConfigMapPublisher publisher;
    private final RetryAfter retryAfter;
    private final ShardCache cache;
    private final Mandate mandate;
    private final Meters meters;
    private final Map<Ref, Read> reads = new ConcurrentHashMap<>();
    private final Map<Place, Settled> settled = new ConcurrentHashMap<>();

    /** What went wrong at the last tries. */
    private final Map<Place, Trouble> troubles = new ConcurrentHashMap<>();

    /**
     * ConfigMaps that the API server knows otherwise than the cache: without the label that would put them there, or changed by
     * a writer of whom the cache has not heard yet. They are read from the API server.
     */
    private final Set<Ref> doubted = ConcurrentHashMap.newKeySet();

    /**
     * The last serials, while they may be ahead of the clock: each change takes the next, however fast. What is made anew, since it was
     * removed, by whomever, must not begin with one of them.
     */
    private final Map<Place, Long> given = new ConcurrentHashMap<>();

    /** The cached ConfigMaps. */
    interface ShardCache {

        Optional<ConfigMap> get(Ref configMap);

        /** Tells of a write, before its event comes. */
        void written(ConfigMap configMap);

        /** Tells that a ConfigMap is not as it was written. */
        void refuted(Ref configMap);
    }

    private record Read(String version, List<ShardState> states) {}

    /** What a shard was last found to say: rendering a thousand hosts again takes longer than comparing them. */
    private record Settled(Part part, String version, Write write) {}

    /** How often something went wrong, and what it was at last. */
    private record Trouble(int times, String message) {

        /** How long to wait, with the first pause doubled each time. */
        Duration pause(Duration first) {
            return first.multipliedBy(1L << Math.min(times - 1, MOST_DOUBLINGS));
        }
    }

    /** One shard of one zone. */
    private record Place(String namespace, String domain, int shard) {}

    /**
     * What the files of one shard depend on.
     *
     * @param zone the zone with the hosts of the shard
     * @param names the names of all hosts of the zone
     */
    private record Part(ZoneRecords zone, List<String> names, CoreDnsLayout layout) {

        static Part of(ZoneRecords zone, List<String> names, CoreDnsLayout layout, int shard) {
            return new Part(
                    zone.withHosts(zone.hosts().stream()
                            .filter(host -> layout.shards().of(host.name()) == shard)
                            .toList()),
                    names,
                    layout);
        }
    }

    /**
     * What came of publishing a zone.
     *
     * @param writes what stands in each shard now
     * @param changed the serials that were written just now, by shard
     * @param retry when to try again, where something could not be written
     */
    record Outcome(SortedMap<Integer, Write> writes, SortedMap<Integer, Long> changed, Optional<Duration> retry) {}

    ZonePublisher(KubernetesClient client, RetryAfter retryAfter, ShardCache cache, Mandate mandate, Meters meters) {
        this.client = ClusterClient.writing(client);
        this.publisher = new ConfigMapPublisher(this.client);
        this.retryAfter = retryAfter;
        this.meters = meters;
        this.mandate = mandate;
        this.cache = cache;
    }

    static CoreDnsLayout layout(AdmittedZone zone) {
        if (!(zone.backEnd() instanceof AdmittedZone.CoreDns coreDns)) {
            throw new IllegalArgumentException(zone.ref() + " does not stand in ConfigMaps");
        }
        return new CoreDnsLayout(
                zone.ref().namespace(), coreDns.configMap(), new Shards(coreDns.shards()), coreDns.directory());
    }

    /** Says whether a ConfigMap is one of those of a name. */
    static boolean isShard(ConfigMap configMap, String namespace, String name) {
        return configMap.getMetadata().getNamespace().equals(namespace)
                && base(configMap).filter(name::equals).isPresent();
    }

    private static Optional<String> base(ConfigMap configMap) {
        Matcher shard = SHARD_NAME.matcher(configMap.getMetadata().getName());
        return shard.matches() ? Optional.of(shard.group(1)) : Optional.empty();
    }

    /** What DNS says now of a zone, over all of its shards; empty where nothing was ever published. */
    Optional<ZoneRecords> published(AdmittedZone zone) {
        CoreDnsLayout layout = layout(zone);
        List<ZoneRecords> parts = new ArrayList<>();
        for (int shard = 0; shard < layout.shards().count(); shard++) {
            current(layout, shard).stream()
                    .flatMap(this::states)
                    .filter(state -> state.domain().equals(zone.domain()))
                    .flatMap(state -> state instanceof ShardState.Published readable
                            ? Stream.of(readable.part())
                            : Stream.empty())
                    .forEach(parts::add);
        }
        List<Host> hosts = parts.stream().flatMap(part -> part.hosts().stream()).toList();
        return parts.stream().findFirst().map(part -> part.withHosts(hosts));
    }

    private Stream<ShardState> states(ConfigMap configMap) {
        String version = version(configMap);
        Map<String, String> data = configMap.getData() == null ? Map.of() : configMap.getData();
        return reads
                .compute(
                        Ref.of(configMap),
                        (ref, known) -> known != null && known.version().equals(version)
                                ? known
                                : new Read(version, ShardState.read(data)))
                .states()
                .stream();
    }

    private static String version(ConfigMap configMap) {
        return configMap.getMetadata().getUid() + "/" + configMap.getMetadata().getResourceVersion();
    }

    private Optional<ConfigMap> current(CoreDnsLayout layout, int shard) {
        Ref ref = new Ref(layout.namespace(), layout.configMapName(shard));
        if (!doubted.contains(ref)) {
            return cache.get(ref);
        }
        try {
            return Optional.ofNullable(client.configMaps()
                    .inNamespace(ref.namespace())
                    .withName(ref.name())
                    .get());
        } catch (KubernetesClientException e) {
            // What is written on the grounds of the cache is refused if the cache is wrong.
            return cache.get(ref);
        }
    }

    /**
     * Publishes a zone: at most one request for each shard, none where nothing changed.
     *
     * @param floor the highest serial that may have been published before, as far as the status and the time tell
     * @param reload whether CoreDNS is to load the zone's configuration again, so that the shard of the domain is written even if
     *     nothing changed
     */
    Outcome publish(AdmittedZone zone, ZoneRecords desired, long floor, boolean reload) {
        List<String> names = desired.hosts().stream().map(Host::name).toList();
        SortedMap<Integer, Write> writes = new TreeMap<>();
        SortedMap<Integer, Long> changed = new TreeMap<>();
        List<Duration> retries = new ArrayList<>();
        Map<Integer, Tried> tried = new ConcurrentHashMap<>();
        // Each shard is compared and set by itself; side by side, a change waits for one request and not for eight.
        List<Thread> threads = IntStream.range(0, layout(zone).shards().count())
                .mapToObj(shard -> Thread.ofVirtual()
                        .name("publish " + zone.domain() + " " + shard)
                        .start(() -> tried.put(
                                shard, publish(zone, desired, names, shard, floor, reload && shard == home(zone)))))
                .toList();
        threads.forEach(ZonePublisher::join);
        for (int shard = 0; shard < threads.size(); shard++) {
            Tried one = tried.getOrDefault(shard, Tried.again(new Write.Failed("it was not tried"), AFTER_FAILURE));
            int number = shard;
            one.write().ifPresent(write -> writes.put(number, write));
            one.serial().ifPresent(serial -> changed.put(number, serial));
            one.retry().ifPresent(retries::add);
        }
        return new Outcome(writes, changed, retries.stream().min(Duration::compareTo));
    }

    /** The shard in which the domain's own files stand. */
    static int home(AdmittedZone zone) {
        return layout(zone).shards().of(zone.domain());
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * What came of one shard.
     *
     * @param write what stands there; empty where there is nothing of the zone
     * @param serial the serial that was written just now
     */
    private record Tried(Optional<Write> write, Optional<Long> serial, Optional<Duration> retry) {

        static Tried of(Write write) {
            return new Tried(Optional.of(write), Optional.empty(), Optional.empty());
        }

        static Tried again(Write write, Duration pause) {
            return new Tried(Optional.of(write), Optional.empty(), Optional.of(pause));
        }
    }

    private Tried publish(
            AdmittedZone zone, ZoneRecords desired, List<String> names, int shard, long floor, boolean reload) {
        CoreDnsLayout layout = layout(zone);
        ConfigMap current = current(layout, shard).orElse(null);
        Part part = Part.of(desired, names, layout, shard);
        Optional<Write> standing = reload ? Optional.empty() : standing(layout, shard, part, current);
        if (standing.isPresent()) {
            return Tried.of(standing.get());
        }
        OptionalLong epoch = mandate.epoch();
        if (epoch.isEmpty()) {
            return Tried.again(
                    new Write.Failed("the lease is not held for certain, so nothing is written"), AFTER_FAILURE);
        }
        Place place = new Place(layout.namespace(), zone.domain(), shard);
        Claim claim = new Claim(Math.max(floor, given.getOrDefault(place, 0L)), epoch.getAsLong(), reload);
        ShardChange change = ShardChange.decide(current, desired, layout, shard, claim);
        Ref ref = new Ref(layout.namespace(), layout.configMapName(shard));
        Optional<Duration> early = call(change).flatMap(retryAfter::left);
        if (early.isPresent()) {
            Trouble trouble = troubles.get(place);
            return Tried.again(
                    new Write.Failed(trouble == null ? "the API server asks to wait" : trouble.message()), early.get());
        }
        Publication publication = publisher.publish(change);
        count(publication);
        return switch (publication) {
            case Publication.Written(Optional<Serial> serial, ConfigMap written) -> {
                troubles.remove(place);
                doubted.remove(ref);
                serial.ifPresent(number -> given.merge(place, number.value(), Math::max));
                cache.written(written);
                yield new Tried(
                        Optional.of(done(serial)),
                        Optional.of(serial.map(Serial::value).orElse(0L)),
                        Optional.empty());
            }
            case Publication.Unchanged(Optional<Serial> serial) -> {
                troubles.remove(place);
                doubted.remove(ref);
                if (serial.isEmpty() || current == null) {
                    yield new Tried(Optional.empty(), Optional.empty(), Optional.empty());
                }
                settled.put(place, new Settled(part, version(current), done(serial)));
                yield Tried.of(done(serial));
            }
            case Publication.Fenced(int code, String message) -> {
                cache.refuted(ref);
                doubted.add(ref);
                log(Level.INFO, zone, ref, code, message, "Another writer was faster");
                yield Tried.again(
                        new Write.Fenced(message), trouble(place, message).pause(AFTER_FENCE));
            }
            case Publication.Outranked(long other) -> {
                mandate.outranked(other);
                yield Tried.again(
                        new Write.Fenced("a leader of epoch %d has written, this one has epoch %d"
                                .formatted(other, epoch.getAsLong())),
                        AFTER_FAILURE);
            }
            case Publication.Refused(ShardChange.Reason reason, String message) -> {
                Write refused = new Write.Refused(reason.name(), message);
                yield doubted.contains(ref)
                        ? Tried.again(refused, trouble(place, message).pause(AFTER_REFUSAL))
                        : Tried.of(refused);
            }
            case Publication.Failed(int code, String message, Optional<Duration> after) -> {
                Optional<RetryAfter.Call> call = call(change);
                call.ifPresent(sent -> after.ifPresent(asked -> retryAfter.wait(sent, asked)));
                Duration pause = trouble(place, message).pause(AFTER_FAILURE);
                log(Level.WARN, zone, ref, code, message, "Could not publish");
                yield Tried.again(
                        new Write.Failed(message),
                        call.flatMap(retryAfter::left).orElse(pause));
            }
        };
    }

    private Trouble trouble(Place place, String message) {
        return troubles.merge(
                place, new Trouble(1, message), (before, now) -> new Trouble(before.times() + 1, now.message()));
    }

    private static Optional<RetryAfter.Call> call(ShardChange change) {
        return switch (change) {
            case ShardChange.Create(ConfigMap configMap, Serial serial) ->
                Optional.of(RetryAfter.Call.create(configMap.getMetadata().getNamespace(), "configmaps"));
            case ShardChange.Patch(var namespace, var name, var operations, var serial) ->
                Optional.of(RetryAfter.Call.patch(namespace, "configmaps", name));
            case ShardChange.Unchanged unchanged -> Optional.empty();
            case ShardChange.Refused refused -> Optional.empty();
            case ShardChange.Outranked outranked -> Optional.empty();
        };
    }

    private static void log(Level level, AdmittedZone zone, Ref configMap, int code, String error, String what) {
        LOG.atLevel(level)
                .addKeyValue("zone", zone.ref())
                .addKeyValue("configMap", configMap)
                .addKeyValue("code", code)
                .addKeyValue("error", error)
                .log(what);
    }

    private void count(Publication publication) {
        switch (publication) {
            case Publication.Unchanged unchanged -> {}
            case Publication.Fenced fenced -> meters.fenced();
            case Publication.Outranked outranked -> meters.fenced();
            case Publication.Written written -> meters.published("written");
            case Publication.Refused refused -> meters.published("refused");
            case Publication.Failed failed -> meters.published("failed");
        }
    }

    /** What stands in a shard that was found to say what is desired, while neither has changed since. */
    private Optional<Write> standing(CoreDnsLayout layout, int shard, Part part, @Nullable ConfigMap current) {
        Settled known = settled.get(new Place(layout.namespace(), part.zone().domain(), shard));
        return known != null
                        && current != null
                        && known.version().equals(version(current))
                        && known.part().equals(part)
                ? Optional.of(known.write())
                : Optional.empty();
    }

    private static Write done(Optional<Serial> serial) {
        return new Write.Done(serial.map(Serial::value).orElse(0L));
    }

    /**
     * Takes the zones out of a ConfigMap that it does not belong to any more.
     *
     * @param isForeign whether a zone is to go
     * @param now the time, in seconds since 1970
     * @return when to look again, where something could not be removed
     */
    Optional<Duration> sweep(ConfigMap configMap, Predicate<ShardState.Published> isForeign, long now) {
        given.values().removeIf(serial -> serial < now);
        return states(configMap)
                .flatMap(state -> state instanceof ShardState.Published readable && isForeign.test(readable)
                        ? remove(configMap, readable).stream()
                        : Stream.empty())
                .toList()
                .stream()
                .max(Duration::compareTo);
    }

    private Optional<Duration> remove(ConfigMap configMap, ShardState.Published zone) {
        String name = configMap.getMetadata().getName();
        String namespace = configMap.getMetadata().getNamespace();
        Optional<CoreDnsLayout> found = base(configMap)
                .map(base -> new CoreDnsLayout(namespace, base, new Shards(zone.shards()), zone.directory()));
        if (found.isEmpty() || !found.get().configMapName(zone.shard()).equals(name)) {
            // Somebody's copy.
            return Optional.empty();
        }
        CoreDnsLayout layout = found.get();
        OptionalLong epoch = mandate.epoch();
        if (epoch.isEmpty()) {
            return Optional.of(AFTER_FAILURE);
        }
        ShardChange change =
                ShardChange.remove(configMap, zone.domain(), layout, zone.shard(), new Claim(0, epoch.getAsLong()));
        Optional<RetryAfter.Call> call = call(change);
        Optional<Duration> early = call.flatMap(retryAfter::left);
        if (early.isPresent()) {
            return early;
        }
        Publication publication = publisher.publish(change);
        count(publication);
        return switch (publication) {
            case Publication.Unchanged unchanged -> Optional.empty();
            case Publication.Written(Optional<Serial> serial, ConfigMap written) -> {
                given.merge(
                        new Place(namespace, zone.domain(), zone.shard()),
                        zone.serial().value(),
                        Math::max);
                cache.written(written);
                LOG.atInfo()
                        .addKeyValue("domain", zone.domain())
                        .addKeyValue("configMap", name)
                        .log("Removed a zone that is not here any more");
                yield Optional.empty();
            }
            case Publication.Fenced fenced -> {
                cache.refuted(Ref.of(configMap));
                yield Optional.of(AFTER_FENCE);
            }
            case Publication.Outranked(long other) -> {
                mandate.outranked(other);
                yield Optional.of(AFTER_FAILURE);
            }
            case Publication.Refused(ShardChange.Reason reason, String message) -> {
                couldNotRemove(zone, name, message);
                yield Optional.empty();
            }
            case Publication.Failed(int code, String message, Optional<Duration> after) -> {
                couldNotRemove(zone, name, message);
                call.ifPresent(sent -> after.ifPresent(asked -> retryAfter.wait(sent, asked)));
                yield call.flatMap(retryAfter::left).or(() -> Optional.of(AFTER_FAILED_REMOVAL));
            }
        };
    }

    private static void couldNotRemove(ShardState.Published zone, String configMap, String error) {
        LOG.atWarn()
                .addKeyValue("domain", zone.domain())
                .addKeyValue("configMap", configMap)
                .addKeyValue("error", error)
                .log("Could not remove a zone that is not here any more");
    }
}
