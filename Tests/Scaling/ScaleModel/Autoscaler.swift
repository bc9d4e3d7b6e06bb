/// The HorizontalPodAutoscaler of Kubernetes, as far as external metrics go: wishes, tolerance, stabilisation, policies.
///
/// Moments are seconds.
package struct Autoscaler {
    /// Between two decisions, seconds: the controller's default.
    package static let period = 15
    /// A deviation from the target that changes nothing: the cluster's default.
    package static let tolerance = 0.1

    private let rule: ScalingRule
    /// Earlier wishes, before any restraint.
    private var wishes: [(at: Int, count: Int)] = []
    /// Changes of the number.
    private var changes: [(at: Int, by: Int)] = []

    package init(_ rule: ScalingRule) { self.rule = rule }

    /// Decides how many workers are to run.
    ///
    /// - Parameters:
    ///   - values: What each trigger of the rule measures, in its order. Nil where there is no answer.
    ///   - current: The number that is to run now.
    ///   - ready: The number that is ready.
    ///   - now: Seconds.
    /// - Returns: The number that is to run from now on.
    package mutating func decide(_ values: [Double?], current: Int, ready: Int, at now: Int) -> Int {
        let wish = clamp(wished(values, current: current, ready: ready))
        let restrained = limit(stabilise(wish, current: current, at: now), current: current, at: now)
        if restrained != current { changes.append((now, restrained - current)) }
        changes.removeAll { $0.at < now - 3600 }
        return restrained
    }

    private func clamp(_ count: Int) -> Int { min(max(count, rule.replicas.lowerBound), rule.replicas.upperBound) }

    /// The largest wish of the triggers. One without an answer keeps the others from wishing for less than there are.
    private func wished(_ values: [Double?], current: Int, ready: Int) -> Int {
        var largest = rule.triggers.isEmpty ? current : 0
        for (trigger, value) in zip(rule.triggers, values) {
            largest = max(largest, value.map { Self.wish(trigger, $0, current: current, ready: ready) } ?? current)
        }
        return largest
    }

    private static func wish(_ trigger: ScalingRule.Trigger, _ value: Double, current: Int, ready: Int) -> Int {
        let ratio = value / (trigger.isForEach ? trigger.target * Double(current) : trigger.target)
        guard abs(ratio - 1) > tolerance else { return current }
        let exact = trigger.isForEach ? value / trigger.target : ratio * Double(ready)
        return Int(min(exact, 1e6).rounded(.up))
    }

    /// Grows to the smallest wish of the growth's window at most, and shrinks to the largest of the shrinking's at least.
    private mutating func stabilise(_ wish: Int, current: Int, at now: Int) -> Int {
        wishes.append((now, wish))
        wishes.removeAll { $0.at <= now - max(rule.growth.window, rule.shrinking.window, 1) }
        let smallest = wishes.filter { $0.at > now - rule.growth.window }.map(\.count).min() ?? wish
        let largest = wishes.filter { $0.at > now - rule.shrinking.window }.map(\.count).max() ?? wish
        return min(max(current, min(smallest, wish)), max(largest, wish))
    }

    private func limit(_ count: Int, current: Int, at now: Int) -> Int {
        if count > current {
            let most = rule.growth.policies.map { policy in
                let start = start(of: policy, current: current, at: now)
                return policy.isPercent
                    ? Int((Double(start) * (1 + Double(policy.value) / 100)).rounded(.up)) : start + policy.value
            }.max()
            return clamp(min(count, max(most ?? count, current)))
        }
        guard count < current else { return clamp(count) }
        let least = rule.shrinking.policies.map { policy in
            let start = start(of: policy, current: current, at: now)
            return policy.isPercent ? Int(Double(start) * (1 - Double(policy.value) / 100)) : start - policy.value
        }.min()
        return clamp(max(count, min(least ?? count, current)))
    }

    /// The number at the beginning of a policy's time.
    private func start(of policy: ScalingRule.Policy, current: Int, at now: Int) -> Int {
        current - changes.filter { $0.at > now - policy.seconds }.reduce(0) { $0 + $1.by }
    }
}
