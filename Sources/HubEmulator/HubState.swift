import HTTPServing

/// Everything that a hub remembers. One lock guards it; every method is short, and none blocks.
struct HubState: Sendable {
    /// A message that waits for its time.
    struct Scheduled: Sendable {
        let notification: Notification
        /// Milliseconds since 1970.
        let due: Int64
    }

    var registrations = RegistrationStore()
    var installations: [String: Installation] = [:]
    var devices: DeviceLog
    var calls: CallLog
    var faults: FaultScript
    var identifiers: HubIdentifiers
    /// In the order of their times.
    private(set) var scheduled: [Scheduled] = []
    /// The times of the newest test sends, for their limit.
    var testSends: [Int64] = []
    private let keepsRings: Bool

    init(_ configuration: HubEmulatorConfiguration, seed: UInt64) {
        devices = DeviceLog(capacity: configuration.maximumRecords)
        calls = CallLog(
            capacity: configuration.maximumRecords, detailedCount: configuration.recording == .full ? 100_000 : 0)
        faults = FaultScript(configuration.faults)
        identifiers = HubIdentifiers(seed: seed)
        keepsRings = configuration.recording != .off
    }

    /// Rings on every device that a notification reaches.
    ///
    /// - Parameters:
    ///   - notification: What is delivered.
    ///   - now: Milliseconds since 1970.
    ///   - limit: Most devices, chosen at random among those that match; `nil` for all.
    /// - Returns: The deliveries.
    @discardableResult
    mutating func deliver(_ notification: Notification, now: Int64, limit: Int? = nil) -> [Delivery] {
        var deliveries = notification.deliveries(to: registrations)
        if let limit, deliveries.count > limit {
            deliveries.shuffle(using: &identifiers)
            deliveries.removeSubrange(limit...)
        }
        for delivery in deliveries {
            let ring = Ring(
                notificationID: notification.id, callID: notification.callID, at: now, format: notification.format,
                template: delivery.template, body: keepsRings ? delivery.body : [],
                headers: keepsRings ? delivery.headers : [:], collapseKey: delivery.collapseKey)
            devices.ring(ring, on: delivery.device, handle: delivery.handle)
        }
        return deliveries
    }

    /// Keeps a notification until `due`.
    mutating func schedule(_ notification: Notification, due: Int64) {
        let position = scheduled.firstIndex { $0.due > due } ?? scheduled.count
        scheduled.insert(Scheduled(notification: notification, due: due), at: position)
    }

    /// Forgets a scheduled notification.
    ///
    /// - Returns: Whether there was one.
    mutating func cancelSchedule(_ id: String) -> Bool {
        guard let position = scheduled.firstIndex(where: { $0.notification.id == id }) else { return false }
        scheduled.remove(at: position)
        return true
    }

    /// Delivers what has become due.
    ///
    /// It is called before anything else looks at the state or changes it, so that nobody can tell that no clock ran.
    mutating func deliverDue(now: Int64) {
        guard let first = scheduled.first, first.due <= now else { return }
        let ready = scheduled.prefix { $0.due <= now }
        scheduled.removeFirst(ready.count)
        for message in ready { deliver(message.notification, now: message.due) }
    }

    /// Writes a registration and remembers its device.
    mutating func write(_ registration: Registration) {
        registrations.write(registration)
        devices.meet(registration.deviceKey, handle: registration.handle)
    }
}
