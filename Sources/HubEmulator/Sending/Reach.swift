/// The devices that a notification reaches, and its outcome there.
struct Reach: Sendable {
    /// A device that its push service refused.
    struct RefusedDelivery: Sendable {
        let delivery: Delivery
        /// `ExpiredChannel`, …: the outcome's name.
        let outcome: String
    }

    /// The deliveries that ring, in the order of the registrations.
    var rung: [Delivery] = []
    var refused: [RefusedDelivery] = []
    /// One for each further registration of a handle that the notification reaches already.
    var skipped: [HubPlatform] = []

    /// The outcomes, as telemetry counts them.
    var counts: OutcomeCounts {
        var counts = OutcomeCounts()
        for delivery in rung { counts.add(OutcomeCounts.success, on: delivery.device.platform) }
        for refusal in refused { counts.add(refusal.outcome, on: refusal.delivery.device.platform) }
        for platform in skipped { counts.add(OutcomeCounts.skipped, on: platform) }
        return counts
    }
}
