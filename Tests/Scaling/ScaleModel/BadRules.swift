/// Rules that the checks have to find, each with its fault.
package enum BadRules {
    /// The rule without one part at a time, and the usual first try.
    package static func all(besides rule: ScalingRule) -> [(name: String, rule: ScalingRule)] {
        [
            ("Kafka's lag, no restraint", .byRecords(rule.replicas)),
            ("no hold by calls in flight", changed(rule) { $0.triggers.removeAll { $0.signal == .callsInFlight } }),
            ("seconds without a gate", changed(rule) { rule in rule.triggers.indices.forEach { rule.triggers[$0].gate = nil } }),
            ("pauses of the hub do not count", gated(rule) { $0.throttled = 1 }),
            ("open circuits do not count", gated(rule) { $0.circuit = 2 }),
            ("idle workers do not count", gated(rule) { $0.busy = 0 }),
            (
                "neither idle workers nor waits for the rate count",
                gated(rule) { gate in
                    gate.busy = 0
                    gate.rateWait = 1
                }
            ),
            ("no restraint when shrinking", changed(rule) { $0.shrinking.window = 0 }),
            ("one worker an hour", changed(rule) { $0.growth.policies = [.init(1, isPercent: false, seconds: 1800)] }),
        ]
    }

    private static func changed(_ rule: ScalingRule, _ change: (inout ScalingRule) -> Void) -> ScalingRule {
        var rule = rule
        change(&rule)
        return rule
    }

    private static func gated(_ rule: ScalingRule, _ change: (inout ScalingRule.Gate) -> Void) -> ScalingRule {
        changed(rule) { rule in
            for index in rule.triggers.indices {
                guard var gate = rule.triggers[index].gate else { continue }
                change(&gate)
                rule.triggers[index].gate = gate
            }
        }
    }
}
