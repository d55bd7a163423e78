package dev.apportion;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.apportion.allocation.Sample;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/** The walls between the packages, and what keeps equal input giving equal output. */
@AnalyzeClasses(packages = "dev.apportion", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    /** What the compiler puts into records, switches and lambdas of any package. */
    private static final String JDK = "java..";

    private static final String ANNOTATIONS = "org.jspecify.annotations..";

    @ArchTest
    static final ArchRule allocationKnowsOnlyTheJdk = classes()
            .that()
            .resideInAPackage("dev.apportion.allocation..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("dev.apportion.allocation..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule recordsKnowAddressesAndRecordDataButNoKubernetes = classes()
            .that()
            .resideInAPackage("dev.apportion.records..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("dev.apportion.records..", JDK, ANNOTATIONS, "inet.ipaddr..", "org.xbill.DNS..");

    @ArchTest
    static final ArchRule dnsKnowsRecordsAndNothingAboveItself = noClasses()
            .that()
            .resideInAPackage("dev.apportion.dns..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.apportion.api..",
                    "dev.apportion.allocation..",
                    "dev.apportion.reconcile..",
                    "dev.apportion.cli..");

    /** It measures; what follows from that is decided elsewhere. */
    @ArchTest
    static final ArchRule loadKnowsHttpAndTheMetricsApi = classes()
            .that()
            .resideInAPackage("dev.apportion.load..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.apportion.load..",
                    "dev.apportion.allocation..",
                    JDK,
                    ANNOTATIONS,
                    "javax.net.ssl..",
                    "org.slf4j..",
                    "com.fasterxml.jackson..",
                    "io.fabric8.kubernetes..");

    @ArchTest
    static final ArchRule measuringNeedsSamplesOnlyOfTheAllocation = noClasses()
            .that()
            .resideInAPackage("dev.apportion.load..")
            .should()
            .dependOnClassesThat(resideInAPackage("dev.apportion.allocation..").and(not(type(Sample.class))));

    @ArchTest
    static final ArchRule onlyReconcileAndTheCommandLineSeeTheApi = noClasses()
            .that(not(resideInAnyPackage("dev.apportion.api..", "dev.apportion.reconcile..", "dev.apportion.cli..")))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.apportion.api..");

    /** Both stand on {@code dev.apportion.dns}; neither needs the other. */
    @ArchTest
    static final ArchRule filesAndQueriesKnowNothingOfEachOther =
            slices().matching("dev.apportion.dns.(*)..").should().notDependOnEachOther();

    @ArchTest
    static final ArchRule queriesKnowNoKubernetes = noClasses()
            .that()
            .resideInAnyPackage("dev.apportion.dns", "dev.apportion.dns.wire..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.fabric8..", "io.javaoperatorsdk..");

    /** It is of what is allocated and published, and not of the cluster; it prints nothing and reads no file. */
    @ArchTest
    static final ArchRule simulationKnowsAllocationRecordsAndChance = classes()
            .that()
            .resideInAPackage("dev.apportion.simulation..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.apportion.simulation..",
                    "dev.apportion.allocation..",
                    "dev.apportion.records..",
                    JDK,
                    ANNOTATIONS,
                    "inet.ipaddr..",
                    "org.HdrHistogram..",
                    "org.apache.commons.rng..",
                    "org.apache.commons.statistics.distribution..");

    @ArchTest
    static final ArchRule onlyTheCommandLineSimulates = noClasses()
            .that(not(resideInAnyPackage("dev.apportion.simulation..", "dev.apportion.cli..")))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.apportion.simulation..");

    @ArchTest
    static final ArchRule onlyTheJudgementOfSharesAndTheSimulationNeedStatistics = noClasses()
            .that(not(resideInAnyPackage("dev.apportion.dns.wire..", "dev.apportion.simulation..")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.commons.statistics..");

    @ArchTest
    static final ArchRule onlyReconcileKnowsTheOperatorFramework = noClasses()
            .that(not(resideInAPackage("dev.apportion.reconcile..")))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.javaoperatorsdk..");

    @ArchTest
    static final ArchRule telemetryKnowsNothingOfWhatItMeters = classes()
            .that()
            .resideInAPackage("dev.apportion.telemetry..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.apportion.telemetry..", JDK, ANNOTATIONS, "com.sun.net.httpserver..", "io.micrometer..");

    @ArchTest
    static final ArchRule metersAreNamedInOnePlace = noClasses()
            .that(not(resideInAPackage("dev.apportion.telemetry..")))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.micrometer..");

    @ArchTest
    static final ArchRule nothingDependsOnTheCommandLine = noClasses()
            .that(not(resideInAPackage("dev.apportion.cli..")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.apportion.cli..", "picocli..");

    @ArchTest
    static final ArchRule packagesFormNoCycle =
            slices().matching("dev.apportion.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule namesSayWhatAThingIs = noClasses()
            .should()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Manager");

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = noFields()
            .should()
            .beAnnotatedWith("jakarta.inject.Inject")
            .orShould()
            .beAnnotatedWith("javax.inject.Inject")
            .orShould()
            .beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired");

    @ArchTest
    static final ArchRule staticsHoldNoState =
            fields().that().areStatic().should().beFinal();

    @ArchTest
    static final ArchRule logsGoThroughSlf4j =
            noClasses().should().dependOnClassesThat().resideInAPackage("java.util.logging..");

    @ArchTest
    static final ArchRule onlyTheCommandLinePrints = noClasses()
            .that(not(resideInAPackage("dev.apportion.cli..")))
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err");

    /** A monotonic {@code System.nanoTime} for waits is no clock: nothing that is computed depends on it. */
    @ArchTest
    static final ArchRule timeEntersThroughConstructors = noClasses()
            .that(not(resideInAPackage("dev.apportion.cli..")))
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(LocalDateTime.class, "now")
            .orShould()
            .callMethod(OffsetDateTime.class, "now")
            .orShould()
            .callMethod(ZonedDateTime.class, "now")
            .orShould()
            .callMethod(Clock.class, "systemUTC")
            .orShould()
            .callMethod(Clock.class, "systemDefaultZone")
            .orShould()
            .callConstructor(Date.class);

    @ArchTest
    static final ArchRule chanceEntersThroughConstructors = noClasses()
            .that(not(resideInAPackage("dev.apportion.cli..")))
            .should()
            .callMethod(Math.class, "random")
            .orShould()
            .callMethod(RandomGenerator.class, "getDefault")
            .orShould()
            .callMethod(ThreadLocalRandom.class, "current")
            .orShould()
            .callConstructor(Random.class);
}
