import FanOut
import HTTPServing
import PushModel
import Synchronization

extension EmulatedHub {
    /// The devices that are registered or were sent to, with what rang on them, in the order in which the hub met them: all,
    /// those with this handle, or those with a registration that has this tag, in any case.
    public func devices(handle: String? = nil, tag: String? = nil) -> [DeviceReport] {
        let now = clock()
        return state.withLock { state in
            state.deliverDue(now: now)
            let tagged = tag.map { Set(state.registrations.registrations(tagged: $0).map(\.deviceKey)) }
            return state.devices.devices.compactMap { device in
                if let handle, DeviceKey(platform: device.key.platform, handle: handle) != device.key { return nil }
                if let tagged, !tagged.contains(device.key) { return nil }
                return Self.report(device, registrations: state.registrations.registrations(of: device.key))
            }
        }
    }

    /// The recorded calls, in the order of their arrival, with ids higher than `after`, and at most `limit` of them.
    public func calls(after: Int = 0, limit: Int = .max) -> [RecordedCall] {
        state.withLock { $0.calls.calls(after: after, limit: limit) }
    }

    /// The number of notifications that rang since the last reset, on all devices together.
    public var rungCount: Int {
        let now = clock()
        return state.withLock { state in
            state.deliverDue(now: now)
            return state.devices.totalRungCount
        }
    }

    /// Arms faults, which are tried in this order. With `replacing`, those armed before are removed, else these come after them.
    public func arm(_ faults: [Fault], replacing: Bool = true) {
        state.withLock { state in
            if replacing { state.faults = FaultScript() }
            state.faults.append(faults)
        }
    }

    /// Scripts what telemetry shows of the notifications that come, and whom push services refuse. The lines are tried in this
    /// order. With `replacing`, those present are removed, else these come after them.
    public func script(_ scripts: [TelemetryScript], replacing: Bool = true) {
        state.withLock { state in
            if replacing { state.plan = TelemetryPlan() }
            state.plan.append(scripts)
        }
    }

    /// Registers a device as an installation, in place of the one with the same id.
    ///
    /// - Parameter device: The device.
    /// - Throws: ``HubEmulatorError``, `invalidDevices` with what the hub would have answered.
    public func register(_ device: EmulatedDevice) throws(HubEmulatorError) {
        var object = JSONObject([
            "installationId": device.id, "platform": device.platform, "pushChannel": device.handle, "userId": device.userID,
            "tags": device.tags,
        ])
        var templates = JSONObject()
        for (name, body) in device.templates.sorted(by: { $0.key < $1.key }) {
            templates.add(name, raw: JSONObject(["body": body]).bytes)
        }
        object.add("templates", raw: templates.bytes)
        do {
            let installation = try InstallationReader(object.bytes).installation(id: device.id)
            let now = clock()
            state.withLock { $0.write(installation, at: now) }
        } catch {
            throw .invalidDevices(path: "in process", reason: error.answer.detail ?? "")
        }
    }

    private static func report(_ device: DeviceLog.Device, registrations: [Registration]) -> DeviceReport {
        var tags: [String] = []
        for tag in registrations.flatMap(\.tags) where !tags.contains(tag) { tags.append(tag) }
        var installations: [String] = []
        for id in registrations.compactMap(\.installationID) where !installations.contains(id) { installations.append(id) }
        return DeviceReport(
            platform: device.key.platform.format, handle: device.handle, tags: tags, installations: installations,
            registrationCount: registrations.count, rungCount: device.rungCount,
            rung: device.rings.elements)
    }
}
