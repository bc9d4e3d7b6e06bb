import HubServer

/// Some of the devices of a notification, one behind the other, with what they get.
struct WalkPage: Sendable {
    /// The place behind which the next page begins. Nil for one without anything.
    private(set) var place: DevicePlace?
    /// No device comes behind it.
    let isLast: Bool
    /// The pushes to hand to push services, in the order of the devices.
    private(set) var deliveries: [Delivery] = []
    /// The outcomes that stand already: pushes that break a rule, and those that another replaces.
    private(set) var counts = OutcomeCounts()
    private(set) var refused: [Reach.RefusedDelivery] = []

    /// The page behind a place of a notification for registered devices.
    ///
    /// - Parameters:
    ///   - found: The devices behind the place. Those that cannot be read have an outcome that is not known.
    ///   - audience: The audience that they are of.
    ///   - notification: What they get.
    init(_ found: AudiencePage, of audience: DeviceAudience, of notification: Notification) {
        isLast = found.next == nil
        place = found.next ?? found.devices.last?.place
        if found.unreadableCount > 0, let platform = audience.platform ?? place?.platform ?? HubPlatform.allCases.last {
            counts.add(Walk.unknown, on: platform, count: found.unreadableCount)
        }
        for device in found.devices {
            var reach = Reach()
            notification.add(device, to: &reach)
            add(reach)
        }
    }

    /// The page behind a place of a notification to handles. The number in a place is that of the handle among the different ones, from 1.
    init(after place: DevicePlace?, limit: Int, ofHandlesOf notification: Notification) {
        let reach = notification.directReach
        let start = min(max(0, Int(clamping: place?.number ?? 0)), reach.rung.count)
        let end = min(reach.rung.count, start + limit)
        isLast = end == reach.rung.count
        var part = Reach()
        part.rung = Array(reach.rung[start..<end])
        if isLast { part.skipped = reach.skipped }
        add(part)
        if let last = part.rung.last { self.place = DevicePlace(platform: last.device.platform, number: Int64(end)) }
    }

    private mutating func add(_ met: Reach) {
        var reach = met
        reach.refuseBroken()
        for platform in reach.skipped { counts.add(OutcomeCounts.skipped, on: platform) }
        for refusal in reach.refused { refuse(refusal.delivery, outcome: refusal.outcome, rule: refusal.rule) }
        for delivery in reach.rung {
            if delivery.body.count <= NotificationReader.maximumByteCount {
                deliveries.append(delivery)
            } else {
                refuse(delivery, outcome: "InvalidNotificationSize", rule: nil)
            }
        }
    }

    private mutating func refuse(_ delivery: Delivery, outcome: String, rule: String?) {
        counts.add(outcome, on: delivery.device.platform)
        refused.append(Reach.RefusedDelivery(delivery: delivery, outcome: outcome, rule: rule))
    }

    /// Gives up all pushes that no push service was asked for.
    mutating func abandon() {
        for delivery in deliveries { counts.add(Walk.abandoned, on: delivery.device.platform) }
        deliveries = []
    }
}
