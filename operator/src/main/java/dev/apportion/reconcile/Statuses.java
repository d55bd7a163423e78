package dev.apportion.reconcile;

import dev.apportion.api.Answer;
import dev.apportion.api.DNSZone;
import dev.apportion.api.DNSZoneStatus;
import dev.apportion.api.ReplicaPool;
import dev.apportion.api.ReplicaPoolStatus;
import dev.apportion.api.TrafficService;
import dev.apportion.api.TrafficServiceStatus;
import dev.apportion.api.TrafficStream;
import dev.apportion.api.TrafficStreamStatus;
import dev.apportion.reconcile.ZoneStanding.Servers;
import dev.apportion.reconcile.ZoneStanding.Verified;
import dev.apportion.records.Answers;
import dev.apportion.records.Host;
import dev.apportion.records.HostStream;
import inet.ipaddr.IPAddress;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes what is known of a resource down as its status. A status is a view: nothing is decided from it. */
final class Statuses {

    /** Rows of a status beyond these are counted, not shown: a status is read by people. */
    static final int ROWS_SHOWN = 50;

    /** Comes after the numbers of a measurement that counts on although a later one failed, and before the reason. */
    static final String HELD = "; held, because of ";

    /** Before the time since when what was measured is so. */
    static final String SINCE = "; since ";

    /** Comes after the numbers of a sample that stands in the specification. */
    static final String FIXED = "; a fixed sample";

    /** Comes before the reason why there is no measurement that counts. */
    static final String NOTHING = "nothing: ";

    /** What a new replica may have of its share by now, in percent. */
    static final String WARMING = "new: %s%% of its share";

    private static final int DECIMALS = 4;

    private static final int PERCENT = 100;

    private final Conditions conditions;

    Statuses(Conditions conditions) {
        this.conditions = conditions;
    }

    /**
     * What is known of a zone.
     *
     * @param unreadable its {@code Programmed}, where it cannot be read what is published
     * @param standing where it stands; empty before anything was decided
     */
    DNSZoneStatus zone(
            DNSZone zone,
            Judged<AdmittedZone> judged,
            Optional<Finding> unreadable,
            Optional<ZoneStanding> standing,
            Servers servers,
            Optional<Verified> verified,
            ResolverReport heard) {
        List<Condition> before =
                zone.getStatus() == null ? List.of() : zone.getStatus().conditions();
        List<Finding> findings = new ArrayList<>(judged.findings());
        if (unreadable.isPresent()) {
            findings.add(unreadable.get());
            findings.add(Findings.pending());
        } else if (judged.value().isPresent() && standing.isPresent()) {
            findings.add(Findings.programmed(standing.get()));
            AdmittedZone admitted = judged.value().get();
            findings.add(remembered(Findings.verified(standing.get(), servers, verified), before, generation(zone)));
            findings.add(remembered(
                    Findings.weightsHonored(admitted, standing.get(), servers, verified, heard),
                    before,
                    generation(zone)));
        } else {
            findings.add(notJudged(Finding.PROGRAMMED));
            findings.add(notJudged(Finding.VERIFIED));
        }
        List<Host> hosts = standing.map(found -> found.records().hosts()).orElse(List.of());
        return new DNSZoneStatus(
                generation(zone),
                conditions.of(findings, Optional.empty(), before, generation(zone)),
                standing.map(ZoneStanding::serial)
                        .filter(serial -> serial > 0 || judged.value().stream().noneMatch(Statuses::isDrawn))
                        .orElse(null),
                (int) hosts.stream().filter(host -> !host.isKey()).count(),
                hosts.stream().mapToInt(host -> host.streams().size()).sum());
    }

    /**
     * What is known of a pool.
     *
     * @param change the last change that was seen; where there is none, the one in the status stays
     */
    ReplicaPoolStatus pool(
            ReplicaPool pool,
            Judged<AdmittedPool> judged,
            Optional<PoolPlan> plan,
            Optional<PlanChange> change,
            World world) {
        List<Finding> findings = new ArrayList<>(judged.findings());
        judged.value()
                .flatMap(admitted -> Findings.missingServices(admitted, world))
                .ifPresent(missing -> {
                    findings.removeIf(finding -> finding.type().equals(Finding.RESOLVED_REFS));
                    findings.add(missing);
                });
        List<Condition> before =
                pool.getStatus() == null ? List.of() : pool.getStatus().conditions();
        if (plan.isPresent()) {
            Findings.of(plan.get()).stream()
                    .map(finding -> plan.get().course().what().isEmpty() ? withCourse(finding, before) : finding)
                    .forEach(findings::add);
        } else {
            findings.add(notJudged(Finding.ALLOCATED));
        }
        List<Condition> written = conditions.of(findings, Optional.empty(), before, generation(pool));
        if (plan.isEmpty()) {
            return new ReplicaPoolStatus(
                    generation(pool), written, null, null, null, null, null, null, null, List.of());
        }
        PoolPlan found = plan.get();
        long draining = found.replicas().stream()
                .filter(replica -> replica.member().state() == Member.State.Draining)
                .count();
        return new ReplicaPoolStatus(
                generation(pool),
                written,
                new ReplicaPoolStatus.Replicas(
                        found.replicas().size(), (int) found.ready(), (int) found.warming(), (int) draining, (int)
                                found.silent()),
                decimal(found.makespan()),
                decimal(found.average()),
                decimal(found.lowerBound()),
                decimal(found.optimalityGap()),
                decimal(found.worstOverLevel()),
                change.map(Statuses::lastChange)
                        .orElse(
                                pool.getStatus() == null
                                        ? null
                                        : pool.getStatus().lastChange()),
                rows(found, pool.getStatus()));
    }

    private List<ReplicaPoolStatus.Row> rows(PoolPlan plan, @Nullable ReplicaPoolStatus before) {
        Map<String, String> measured = new HashMap<>();
        if (before != null) {
            before.rows().forEach(row -> measured.put(row.name(), Objects.requireNonNullElse(row.measured(), "")));
        }
        return plan.replicas().stream()
                .limit(ROWS_SHOWN)
                .map(replica ->
                        row(replica, measured.getOrDefault(replica.member().name(), "")))
                .toList();
    }

    /** What became of the allocation before stays said, while the rest is as it was: a start is no news. */
    private static Finding withCourse(Finding finding, List<Condition> before) {
        return before.stream()
                .filter(condition -> condition.getType().equals(finding.type())
                        && condition.getStatus().equals(finding.status().name())
                        && condition.getReason().equals(finding.reason())
                        && condition.getMessage().startsWith(finding.message() + Findings.COURSE))
                .findFirst()
                .map(condition ->
                        new Finding(finding.type(), finding.status(), finding.reason(), condition.getMessage()))
                .orElse(finding);
    }

    private static ReplicaPoolStatus.LastChange lastChange(PlanChange change) {
        return new ReplicaPoolStatus.LastChange(
                change.time().truncatedTo(ChronoUnit.SECONDS).toString(),
                decimal(change.movedPercent()),
                change.reason());
    }

    private ReplicaPoolStatus.Row row(PoolPlan.Replica replica, String measuredBefore) {
        Member member = replica.member();
        return new ReplicaPoolStatus.Row(
                member.name(),
                member.addresses().stream().map(IPAddress::toCanonicalString).collect(Collectors.joining(",")),
                member.site(),
                member.isReady() && member.isWarming()
                        ? "Warming"
                        : member.state().name(),
                decimal(member.capacity()),
                measured(member, measuredBefore),
                decimal(replica.load()),
                decimal(replica.level()),
                decimal(replica.share()),
                Stream.of(member.because().stream(), restraint(member).stream(), Stream.of(replica.because()))
                        .flatMap(reasons -> reasons)
                        .filter(reason -> !reason.isEmpty())
                        .collect(Collectors.joining("; ")));
    }

    private static Optional<String> restraint(Member member) {
        if (!member.isReady()) {
            return Optional.empty();
        }
        if (member.isWarming()) {
            return Optional.of(WARMING.formatted(Math.round(PERCENT * member.warmth())));
        }
        return Optional.empty();
    }

    /**
     * What was measured, for people; null when nothing is.
     *
     * @param before what stands there
     */
    private @Nullable String measured(Member member, String before) {
        List<String> texts = Shown.texts(member.measured());
        String values = String.join(", ", texts);
        return switch (member.load()) {
            case Member.Load.Declared fixed -> texts.isEmpty() ? null : values + FIXED;
            case Member.Load.Measured now -> texts.isEmpty() ? null : since(values, before);
            case Member.Load.Held(String reason, boolean partly) -> since(values, before) + HELD + reason;
            case Member.Load.Hot(String reason) -> since(values, before) + (reason.isEmpty() ? "" : HELD + reason);
            case Member.Load.Missing(String reason, boolean counted) -> NOTHING + reason;
        };
    }

    /** What was measured, and since when that is so: a time for each look would be a write for each look. */
    private String since(String values, String before) {
        String begin = values + SINCE;
        if (!before.startsWith(begin)) {
            return begin + conditions.now();
        }
        int end = before.indexOf(HELD);
        return end < 0 ? before : before.substring(0, end);
    }

    /**
     * What is known of a service.
     *
     * @param part what its zone says of it
     */
    TrafficServiceStatus service(
            TrafficService service,
            Judged<AdmittedService> judged,
            Optional<PoolPlan> plan,
            Optional<ZoneStanding.Part> part,
            Servers servers,
            Optional<Verified> verified,
            Optional<AdmittedZone> zone,
            ResolverReport heard) {
        List<Condition> before =
                service.getStatus() == null ? List.of() : service.getStatus().conditions();
        List<Finding> findings = served(judged, part, servers, verified, before, generation(service));
        if (judged.value().isPresent()) {
            findings.add(remembered(
                    zone.filter(Statuses::isDrawn).isPresent()
                            ? Findings.weightsHonored(servers, verified, Findings.verified(part, servers, verified))
                            : ResolverFindings.ofService(zone, part, heard),
                    before,
                    generation(service)));
        }
        Ref ref = Ref.of(service);
        return new TrafficServiceStatus(
                generation(service),
                conditions.of(findings, plan.map(Findings::allocated), before, generation(service)),
                rate(plan, ref, ""),
                answers(part, ""));
    }

    /**
     * What is known of a stream; it is ready when its service is.
     *
     * @param measured what is known of its rate; empty if no query gives it
     */
    TrafficStreamStatus stream(
            TrafficStream stream,
            Judged<AdmittedStream> judged,
            Optional<PoolPlan> plan,
            Optional<ZoneStanding.Part> part,
            Servers servers,
            Optional<Verified> verified,
            Optional<Finding> measured) {
        List<Condition> before =
                stream.getStatus() == null ? List.of() : stream.getStatus().conditions();
        List<Finding> findings = served(judged, part, servers, verified, before, generation(stream));
        measured.ifPresent(findings::add);
        String name = stream.getMetadata().getName();
        return new TrafficStreamStatus(
                generation(stream),
                conditions.of(findings, plan.map(Findings::allocated), before, generation(stream)),
                judged.value().map(found -> rate(plan, found.service(), name)).orElse(null),
                answers(part, name));
    }

    /** What holds of a service, or of a stream, which is served as its service is. */
    private static List<Finding> served(
            Judged<?> judged,
            Optional<ZoneStanding.Part> part,
            Servers servers,
            Optional<Verified> verified,
            List<Condition> before,
            long generation) {
        List<Finding> findings = new ArrayList<>(judged.findings());
        if (judged.value().isPresent()) {
            findings.add(Findings.programmed(part));
            findings.add(remembered(Findings.verified(part, servers, verified), before, generation));
        } else {
            findings.add(notJudged(Finding.PROGRAMMED));
            findings.add(notJudged(Finding.VERIFIED));
        }
        return findings;
    }

    /**
     * What was last known of the servers or resolvers, while they have not been asked yet: a restart, or a change that they
     * are given time to follow, is no news.
     */
    private static Finding remembered(Finding finding, List<Condition> before, long generation) {
        if (!finding.reason().equals(Findings.PENDING)) {
            return finding;
        }
        return before.stream()
                .filter(condition -> condition.getType().equals(finding.type())
                        && Objects.equals(condition.getObservedGeneration(), generation)
                        && !condition.getStatus().equals(Finding.Status.Unknown.name()))
                .findFirst()
                .map(condition -> new Finding(
                        finding.type(),
                        Finding.Status.valueOf(condition.getStatus()),
                        condition.getReason(),
                        condition.getMessage()))
                .orElse(finding);
    }

    private static boolean isDrawn(AdmittedZone zone) {
        return zone.answers() == Answers.Drawn;
    }

    private static Finding notJudged(String type) {
        return Finding.unknown(
                type, "NotAccepted", "judged once the resource is accepted and its references are found");
    }

    private static long generation(HasMetadata resource) {
        Long generation = resource.getMetadata().getGeneration();
        return generation == null ? 0 : generation;
    }

    private static @Nullable String rate(Optional<PoolPlan> plan, Ref service, String stream) {
        List<Demand> demands = plan.map(found -> found.streams().stream()
                        .map(PoolPlan.Stream::demand)
                        .filter(demand -> demand.service().equals(service)
                                && demand.stream().equals(stream))
                        .toList())
                .orElse(List.of());
        return demands.isEmpty()
                ? null
                : decimal(demands.stream().mapToDouble(Demand::rate).sum());
    }

    /** What is published for a stream. */
    private static List<Answer> answers(Optional<ZoneStanding.Part> part, String stream) {
        Optional<HostStream> published = part.flatMap(ZoneStanding.Part::host)
                .flatMap(host -> host.streams().stream()
                        .filter(candidate -> candidate.stream().equals(stream))
                        .findFirst());
        return published
                .map(found -> found.answers().stream()
                        .limit(ROWS_SHOWN)
                        .map(answer -> new Answer(
                                answer.address().toCanonicalString(),
                                answer.replica(),
                                answer.weight(),
                                decimal((double) answer.weight()
                                        / found.answers(answer.address().isIPv6())
                                                .mapToInt(dev.apportion.records.Answer::weight)
                                                .sum())))
                        .toList())
                .orElse(List.of());
    }

    /** A number as people read it: at most four decimals, no exponent. */
    static String decimal(double value) {
        BigDecimal rounded = BigDecimal.valueOf(value)
                .setScale(DECIMALS, RoundingMode.HALF_EVEN)
                .stripTrailingZeros();
        return rounded.toPlainString();
    }
}
