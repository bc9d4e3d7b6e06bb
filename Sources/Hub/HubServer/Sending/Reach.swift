import Payloads

/// The devices that a notification reaches, and its outcome there.
package struct Reach: Sendable {
    /// A device that its push service refused.
    package struct RefusedDelivery: Sendable {
        package let delivery: Delivery
        /// `ExpiredChannel`, …: the outcome's name.
        package let outcome: String
        /// The sentence of the rule that the push breaks, or nil when the telemetry's script refuses the device.
        package var rule: String?

        package init(delivery: Delivery, outcome: String, rule: String? = nil) {
            (self.delivery, self.outcome, self.rule) = (delivery, outcome, rule)
        }
    }

    /// A reach of no device.
    package init() {}

    /// The deliveries that ring, in the order of the registrations.
    package var rung: [Delivery] = []
    package var refused: [RefusedDelivery] = []
    /// One for each further registration of a handle that the notification reaches already.
    package var skipped: [HubPlatform] = []

    /// The first rule that the push breaks.
    package var rule: String? { refused.lazy.compactMap(\.rule).first }

    /// Takes the deliveries that break a rule of their push service from those that ring.
    package mutating func refuseBroken() {
        guard rung.contains(where: { $0.refusal != nil }) else { return }
        for delivery in rung {
            guard let refusal = delivery.refusal else { continue }
            refused.append(RefusedDelivery(delivery: delivery, outcome: refusal.outcome, rule: refusal.sentence))
        }
        rung.removeAll { $0.refusal != nil }
    }

    /// The outcomes, as telemetry counts them.
    package var counts: OutcomeCounts {
        var counts = OutcomeCounts()
        for delivery in rung { counts.add(OutcomeCounts.success, on: delivery.device.platform) }
        for refusal in refused { counts.add(refusal.outcome, on: refusal.delivery.device.platform) }
        for platform in skipped { counts.add(OutcomeCounts.skipped, on: platform) }
        return counts
    }
}
