package dev.apportion.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.apportion.records.ZoneRecords;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanTest {

    private static final Ref ZONE = new Ref("web", "example-org");
    private static final String POOL = Setting.pool("shop", "{name: main, endpoints: [{name: a, address: 192.0.2.1}]}");
    private static final String SERVICE = Setting.service("shop", "shop.example.org");

    private static final Map<Ref, ZoneRecords> BEFORE =
            Setting.of(Setting.ZONE, POOL, SERVICE).plan().records(Map.of());

    @Test
    void anAdmittedZoneIsAsPlanned() {
        assertThat(BEFORE).containsOnlyKeys(ZONE);
        assertThat(Setting.of(Setting.ZONE, POOL).plan().records(BEFORE))
                .containsOnlyKeys(ZONE)
                .isNotEqualTo(BEFORE);
    }

    @Test
    void aZoneThatIsRefusedNowStaysAsItWas() {
        String slip = Setting.ZONE.replace("coreDNS: {}", "coreDNS: {answers: Some}");

        assertThat(Setting.of(slip, POOL, SERVICE).plan().records(BEFORE)).isEqualTo(BEFORE);
    }

    @Test
    void aZoneThatIsGoneOrHasLostItsDomainIsNotAnsweredAnyMore() {
        String other = Setting.ZONE.replace("name: example-org", "name: another");
        String slip = Setting.ZONE.replace("coreDNS: {}", "coreDNS: {answers: Some}");

        assertThat(Setting.of(POOL).plan().records(BEFORE)).isEmpty();
        assertThat(Setting.of(Setting.ZONE, other).plan().records(BEFORE)).containsOnlyKeys(new Ref("web", "another"));
        assertThat(Setting.of(slip, other).plan().records(BEFORE)).containsOnlyKeys(new Ref("web", "another"));
    }
}
