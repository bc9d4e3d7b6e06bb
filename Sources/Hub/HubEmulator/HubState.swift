import HTTPServing

/// The whole memory of a hub. One lock guards it. Every method is short, and none blocks.
struct HubState: Sendable {
    /// A message that waits for its time.
    struct Scheduled: Sendable {
        let notification: Notification
        /// Milliseconds since 1970.
        let due: Int64
    }

    var registrations = RegistrationStore()
    var installations: [String: EmulatedInstallation] = [:]
    var devices: DeviceLog
    var calls: CallLog
    var faults: FaultScript
    var plan: TelemetryPlan
    var telemetry: TelemetryLog
    var bulk = JobStore()
    var scriptedFeedback = ScriptedFeedback()
    var identifiers: HubIdentifiers
    /// In the order of their times.
    private(set) var scheduled: [Scheduled] = []
    /// The times of the newest test sends, for their limit.
    var testSends: [Int64] = []
    private let keepsRecords: Bool

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

    /// Rings on every device that a notification reaches and no push service refuses, by the script or by its own rules, or on `limit` of them, chosen at random.
    /// Returns the devices that it reached, and its outcome there. `now` is milliseconds since 1970.
    @discardableResult
    mutating func deliver(_ notification: Notification, now: Int64, limit: Int? = nil) -> Reach {
        var reach = notification.reach(in: registrations)
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

    /// Delivers a notification that was just accepted, and returns its outcome.
    mutating func accept(_ notification: Notification, of call: HubCall) -> Reach {
        let now = call.moment.milliseconds
        let reach = deliver(notification, now: now)
        remember(notification, of: call)
        completeTelemetry(reach, of: notification, now: now)
        forgetExpired(reach)
        return reach
    }

    /// Keeps a notification until `due`.
    mutating func schedule(_ notification: Notification, of call: HubCall, due: Int64) {
        remember(notification, of: call, due: due)
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

    /// Delivers the notifications that have become due.
    ///
    /// Called before every other reading or change of the state, so that no caller notices the missing clock.
    mutating func deliverDue(now: Int64) {
        guard let first = scheduled.first, first.due <= now else { return }
        let ready = scheduled.prefix { $0.due <= now }
        scheduled.removeFirst(ready.count)
        for message in ready {
            let reach = deliver(message.notification, now: message.due)
            completeTelemetry(reach, of: message.notification, now: message.due)
            forgetExpired(reach)
        }
    }

    /// Writes a registration and remembers its device.
    mutating func write(_ registration: Registration) {
        registrations.write(registration)
        devices.meet(registration.deviceKey, handle: registration.handle)
    }

    /// Begins the telemetry of a notification, in the standard tier only.
    private mutating func remember(_ notification: Notification, of call: HubCall, due: Int64? = nil) {
        guard keepsRecords, call.tier == .standard else { return }
        telemetry.append(TelemetryRecord(notification, call: call, progress: plan.progress(for: call.request), due: due))
    }

    /// Completes the telemetry of a notification.
    private mutating func completeTelemetry(_ reach: Reach, of notification: Notification, now: Int64) {
        guard keepsRecords else { return }
        let feedback = reach.refused.map { refusal in
            PNSFeedback(
                at: now, outcome: refusal.outcome, platform: refusal.delivery.device.platform, handle: refusal.delivery.handle,
                registrationID: refusal.delivery.registrationID,
                installationID: registrations[refusal.delivery.registrationID]?.installationID,
                notificationID: notification.id)
        }
        telemetry.change(notification.id) { $0.delivered(reach, refused: feedback) }
    }

    /// Forgets devices whose handles are gone, as hubs do it: registrations are deleted, and installations marked.
    private mutating func forgetExpired(_ reach: Reach) {
        for refusal in reach.refused where refusal.outcome == "ExpiredChannel" {
            for registration in registrations.registrations(of: refusal.delivery.device) {
                registrations.remove(registration.id)
                guard let id = registration.installationID, registration.extras["SecondaryTileName"] == nil else { continue }
                installations[id]?.isChannelExpired = true
            }
        }
    }
}
