import Payloads

/// The devices that a notification reaches, and its outcome there.
struct Reach: Sendable {
    /// A device that its push service refused.
    struct RefusedDelivery: Sendable {
        let delivery: Delivery
        /// `ExpiredChannel`, …: the outcome's name.
        let outcome: String
        /// The sentence of the rule that the push breaks, or nil when the telemetry's script refuses the device.
        var rule: String?
    }

    /// The deliveries that ring, in the order of the registrations.
    var rung: [Delivery] = []
    var refused: [RefusedDelivery] = []
    /// One for each further registration of a handle that the notification reaches already.
    var skipped: [HubPlatform] = []

    /// The first rule that the push breaks.
    var rule: String? { refused.lazy.compactMap(\.rule).first }

    /// Takes the deliveries that break a rule of their push service from those that ring.
    mutating func refuseBroken() {
        guard rung.contains(where: { $0.refusal != nil }) else { return }
        for delivery in rung {
            guard let refusal = delivery.refusal else { continue }
            refused.append(RefusedDelivery(delivery: delivery, outcome: refusal.outcome, rule: refusal.sentence))
        }
        rung.removeAll { $0.refusal != nil }
    }

    /// The outcomes, as telemetry counts them.
    var counts: OutcomeCounts {
        var counts = OutcomeCounts()
        for delivery in rung { counts.add(OutcomeCounts.success, on: delivery.device.platform) }
        for refusal in refused { counts.add(refusal.outcome, on: refusal.delivery.device.platform) }
        for platform in skipped { counts.add(OutcomeCounts.skipped, on: platform) }
        return counts
    }
}
