import HTTPServing
import HubServer

/// The emulator's memory, without the devices' registrations. One lock guards it. Every method is short, and none blocks.
struct HubState: Sendable {
    /// A message that waits for its time.
    struct Scheduled: Sendable {
        let notification: Notification
        /// Milliseconds since 1970.
        let due: Int64
    }

    var devices: DeviceLog
    var calls: CallLog
    var faults: FaultScript
    var plan: TelemetryPlan
    var telemetry: TelemetryLog
    var scriptedFeedback = ScriptedFeedback()
    /// Makes tracking ids and random choices.
    var identifiers: HubIdentifiers
    /// In the order of their times.
    private var scheduled: [Scheduled] = []
    /// The times of the newest test sends, for their limit.
    private var testSends: [Int64] = []
    let keepsRecords: Bool

    init(_ configuration: HubEmulatorConfiguration, seed: UInt64) {
        devices = DeviceLog(capacity: configuration.maximumRecords)
        calls = CallLog(
            capacity: configuration.maximumRecords, detailedCount: configuration.recording == .full ? 100_000 : 0)
        faults = FaultScript(configuration.faults)
        plan = TelemetryPlan(configuration.telemetry)
        telemetry = TelemetryLog(capacity: configuration.maximumRecords)
        identifiers = HubIdentifiers(seed: seed)
        keepsRecords = configuration.recording != .off
    }

    /// Rings on every device of a reach that no push service refuses, by the script or by its own rules, or on `limit` of them, chosen at
    /// random. Returns the outcome there. `now` is milliseconds since 1970.
    mutating func ring(_ notification: Notification, on reach: Reach, now: Int64, limit: Int? = nil) -> Reach {
        var reach = reach
        if let limit, reach.rung.count > limit {
            reach.rung.shuffle(using: &identifiers)
            reach.rung.removeSubrange(limit...)
        }
        plan.refuseDevices(of: &reach)
        reach.refuseBroken()
        for delivery in reach.rung {
            let ring = RingReport(
                notificationID: notification.id, callID: notification.callID, milliseconds: now, format: notification.format,
                template: delivery.template, bytes: keepsRecords ? delivery.body : [],
                headers: keepsRecords ? delivery.headers : [:], collapseKey: delivery.collapseKey)
            devices.ring(ring, on: delivery.device, handle: delivery.handle)
        }
        return reach
    }

    /// Counts a test send. Returns false if there were too many in the last minute.
    mutating func countTestSend(at now: Int64) -> Bool {
        testSends.removeAll { $0 <= now - 60_000 }
        guard testSends.count < 10 else { return false }
        testSends.append(now)
        return true
    }

    /// Keeps a notification until `due`.
    mutating func schedule(_ notification: Notification, due: Int64) {
        let position = scheduled.firstIndex { $0.due > due } ?? scheduled.count
        scheduled.insert(Scheduled(notification: notification, due: due), at: position)
    }

    /// Forgets a scheduled notification, if there is one.
    mutating func cancelSchedule(_ id: String, now: Int64) -> Bool {
        guard let position = scheduled.firstIndex(where: { $0.notification.id == id }) else { return false }
        scheduled.remove(at: position)
        telemetry.change(id) { $0.canceled(at: now) }
        return true
    }

    /// Takes the notifications out that have become due.
    mutating func takeDue(now: Int64) -> [Scheduled] {
        guard let first = scheduled.first, first.due <= now else { return [] }
        let ready = scheduled.prefix { $0.due <= now }
        scheduled.removeFirst(ready.count)
        return Array(ready)
    }

    /// Begins the telemetry of a notification, in the standard tier only.
    mutating func remember(_ notification: Notification, of call: HubCall, due: Int64?) {
        guard keepsRecords, call.tier == .standard else { return }
        telemetry.append(TelemetryRecord(notification, call: call, progress: plan.progress(for: call.request), due: due))
    }

    /// Completes the telemetry of a notification.
    mutating func completeTelemetry(_ reach: Reach, of notification: Notification, now: Int64) {
        guard keepsRecords else { return }
        let feedback = reach.refused.map { PNSFeedback($0, notificationID: notification.id, at: now) }
        telemetry.change(notification.id) { $0.delivered(reach, refused: feedback) }
    }
}
