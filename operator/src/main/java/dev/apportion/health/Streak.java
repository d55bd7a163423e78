package dev.apportion.health;

/**
 * What is thought of an endpoint, and how many results in a row have spoken against that. The first result of all decides by
 * itself; after it, one that contradicts does not.
 *
 * @param health what is thought
 * @param against the results in a row that contradict it
 */
record Streak(EndpointHealth health, int against) {

    static final Streak NEW = new Streak(new EndpointHealth.Unchecked(), 0);

    Streak next(CheckResult result, HealthCheck check) {
        return switch (health) {
            case EndpointHealth.Unchecked unchecked -> new Streak(of(result), 0);
            case EndpointHealth.Healthy healthy ->
                switch (result) {
                    case CheckResult.Passed passed -> new Streak(health, 0);
                    case CheckResult.Failed failed -> contradicted(result, check.unhealthyAfter());
                };
            case EndpointHealth.Unhealthy unhealthy ->
                switch (result) {
                    case CheckResult.Passed passed -> contradicted(result, check.healthyAfter());
                    case CheckResult.Failed failed -> new Streak(health, 0);
                };
        };
    }

    private Streak contradicted(CheckResult result, int enough) {
        return against + 1 >= enough ? new Streak(of(result), 0) : new Streak(health, against + 1);
    }

    private static EndpointHealth of(CheckResult result) {
        return switch (result) {
            case CheckResult.Passed passed -> new EndpointHealth.Healthy();
            case CheckResult.Failed(String reason) -> new EndpointHealth.Unhealthy(reason);
        };
    }
}
