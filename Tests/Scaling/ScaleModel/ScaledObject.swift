import YAML

/// The reason for which a ScaledObject is not the rule that is simulated.
package struct RuleError: Error, CustomStringConvertible {
    package let description: String
}

/// Reads the rule from the file that a cluster gets. What the simulation does not know is refused, so neither can drift from the other.
package struct ScaledObject {
    private let root: YAMLNode

    /// - Throws: `RuleError` where the bytes are no YAML.
    package init(_ bytes: [UInt8]) throws(RuleError) {
        do { root = try YAMLReader.read(bytes) } catch {
            throw RuleError(description: "line \(error.mark.line): \(error.message)")
        }
    }

    /// The rule.
    ///
    /// - Throws: `RuleError` where the file says anything that is not simulated.
    package func rule() throws(RuleError) -> ScalingRule {
        let spec = try root.at("spec")
        let behaviour = try spec.at("advanced", "horizontalPodAutoscalerConfig", "behavior")
        let fewest = try spec.integer("minReplicaCount")
        let most = try spec.integer("maxReplicaCount")
        guard (1...most).contains(fewest) else { throw RuleError(description: "minReplicaCount is not 1 to maxReplicaCount") }
        var triggers: [ScalingRule.Trigger] = []
        for trigger in try spec.at("triggers").items() { triggers.append(try Self.trigger(trigger)) }
        return ScalingRule(
            replicas: fewest...most, triggers: triggers, growth: try Self.behaviour(try behaviour.at("scaleUp")),
            shrinking: try Self.behaviour(try behaviour.at("scaleDown")))
    }

    private static func behaviour(_ node: YAMLNode) throws(RuleError) -> ScalingRule.Behaviour {
        try node.allow(["stabilizationWindowSeconds", "policies"])
        var policies: [ScalingRule.Policy] = []
        for policy in try node.at("policies").items() {
            let type = try policy.text("type")
            guard ["Pods", "Percent"].contains(type) else { throw RuleError(description: "a policy of type \(type)") }
            policies.append(
                .init(try policy.integer("value"), isPercent: type == "Percent", seconds: try policy.integer("periodSeconds")))
        }
        return .init(window: try node.integer("stabilizationWindowSeconds"), policies: policies)
    }

    private static func trigger(_ node: YAMLNode) throws(RuleError) -> ScalingRule.Trigger {
        let metadata = try node.at("metadata")
        let kind = try node.text("metricType")
        guard let target = Double(try metadata.text("threshold")), ["Value", "AverageValue"].contains(kind) else {
            throw RuleError(description: "metricType \(kind), or a threshold that is no number")
        }
        let query = try metadata.text("query")
        for (template, signal) in queries {
            guard let numbers = numbers(of: query, as: template) else { continue }
            let gate =
                numbers.count == 5
                ? ScalingRule.Gate(
                    throttled: numbers[0], rateWait: numbers[1], circuit: numbers[2], busy: numbers[3], ceiling: numbers[4])
                : nil
            return .init(signal, target: target, isForEach: kind == "AverageValue", gate: gate)
        }
        throw RuleError(description: "a query that is not simulated: \(query)")
    }

    /// The queries that are simulated, with `#` for each number.
    private static let queries: [(template: String, signal: ScalingRule.Signal)] = [
        (gated("pushfan_oldest_waiting_seconds", on: "(hub)"), .oldestWaiting),
        (gated("pushfan_consumer_lag_seconds", on: "()"), .lag),
        ("sum(avg_over_time(pushfan_inflight_sends[1m]))", .callsInFlight),
    ]

    private static func gated(_ metric: String, on labels: String) -> String {
        """
        max( ( \(metric) \
        unless on \(labels) (avg by (hub) (rate(pushfan_throttled_seconds_total[2m])) > #) \
        unless on \(labels) (avg by (hub) (rate(pushfan_rate_wait_seconds_total[2m])) > #) \
        unless on \(labels) (avg by (hub) (pushfan_circuit_state) > #) \
        and on \(labels) (max by (hub) (avg_over_time(pushfan_inflight_sends[1m]) / pushfan_send_limit) > #) ) \
        or clamp_max(\(metric), #) )
        """
    }

    /// The numbers that stand in place of `#`, or nil where the rest differs in more than spaces.
    private static func numbers(of query: String, as template: String) -> [Double]? {
        var rest = query.split(whereSeparator: \.isWhitespace).joined(separator: " ")[...]
        var numbers: [Double] = []
        for (index, piece) in template.split(separator: "#", omittingEmptySubsequences: false).enumerated() {
            if index > 0 {
                let digits = rest.prefix { $0.isNumber || $0 == "." }
                guard let number = Double(digits) else { return nil }
                numbers.append(number)
                rest = rest.dropFirst(digits.count)
            }
            guard rest.hasPrefix(piece) else { return nil }
            rest = rest.dropFirst(piece.count)
        }
        return rest.isEmpty ? numbers : nil
    }
}

extension YAMLNode {
    fileprivate func at(_ path: String...) throws(RuleError) -> YAMLNode {
        var node = self
        for key in path {
            guard case .mapping(let entries) = node.value, let entry = entries.first(where: { $0.key == key }) else {
                throw RuleError(description: "line \(node.mark.line): there is no \(key)")
            }
            node = entry.node
        }
        return node
    }

    fileprivate func items() throws(RuleError) -> [YAMLNode] {
        guard case .sequence(let items) = value else { throw RuleError(description: "line \(mark.line): this is no list") }
        return items
    }

    fileprivate func text(_ key: String) throws(RuleError) -> String {
        guard case .scalar(let text, _) = try at(key).value else { throw RuleError(description: "\(key) is no text") }
        return text
    }

    fileprivate func integer(_ key: String) throws(RuleError) -> Int {
        guard let number = Int(try text(key)) else { throw RuleError(description: "\(key) is no whole number") }
        return number
    }

    fileprivate func allow(_ keys: Set<String>) throws(RuleError) {
        guard case .mapping(let entries) = value, let other = entries.first(where: { !keys.contains($0.key) }) else { return }
        throw RuleError(description: "line \(other.mark.line): \(other.key) is not simulated")
    }
}
