import HubServer
import PushModel
import Synchronization

extension EmulatedHub {
    /// The devices that are registered or were sent to, with what rang on them, in the order in which the hub met them: all,
    /// those with this handle, or those with a registration that has this tag, in any case.
    public func devices(handle: String? = nil, tag: String? = nil) -> [DeviceReport] {
        devicePage(handle: handle, tag: tag, from: .start, limit: .max).page
    }

    /// A page of those devices, with at most `limit` of them and `limit` rings, where the next page begins, and the number of all
    /// devices. The state is locked for as long as it takes to copy what is on the page.
    func devicePage(
        handle: String?, tag: String?, from cursor: DeviceCursor, limit: Int
    ) -> (page: [DeviceReport], next: DeviceCursor?, count: Int) {
        messages.deliverDue(now: clock())
        let keys = deviceKeys(handle: handle, tag: tag)
        let (page, next, count) = messages.state.withLock { state in
            let (page, next) =
                if let keys {
                    state.devices.page(of: state.devices.positions(of: keys), from: cursor, limit: limit)
                } else {
                    state.devices.page(
                        of: min(cursor.deviceCount, state.devices.count)..<state.devices.count, from: cursor, limit: limit)
                }
            return (page, next, state.devices.count)
        }
        let known = try? hub.devices.read { [keys = page.map(\.key)] (book) throws(RefusedCall) in
            var known: [[Registration]] = []
            for key in keys { known.append(try book.registrations(of: key)) }
            return known
        }
        return (zip(page, known ?? page.map { _ in [] }).map(Self.report), next, count)
    }

    /// The keys of the devices with this handle, a registration that has this tag, or both. Nil stands for all devices.
    private func deviceKeys(handle: String?, tag: String?) -> Set<DeviceKey>? {
        let tagged = tag.map { tag in
            let page = try? hub.devices.read { (book) throws(RefusedCall) in
                try book.page(of: .tagged(tag.lowercased()), from: 0, limit: .max).page
            }
            return Set((page ?? []).map(\.deviceKey))
        }
        guard let handle else { return tagged }
        let named = Set(HubPlatform.allCases.map { DeviceKey(platform: $0, handle: handle) })
        return tagged.map(named.intersection) ?? named
    }

    /// The recorded calls, in the order of their arrival, with ids higher than `after`, and at most `limit` of them.
    public func calls(after: Int = 0, limit: Int = .max) -> [RecordedCall] {
        messages.state.withLock { $0.calls.page(after: after, limit: limit).page }
    }

    /// The number of notifications that rang since the last reset, on all devices together.
    public var rungCount: Int {
        messages.deliverDue(now: clock())
        return messages.state.withLock { $0.devices.totalRungCount }
    }

    /// Arms faults, which are tried in this order. With `replacing`, those armed before are removed, else these come after them.
    public func arm(_ faults: [Fault], replacing: Bool = true) {
        messages.state.withLock { state in
            if replacing { state.faults = FaultScript() }
            state.faults.append(faults)
        }
    }

    /// Scripts what telemetry shows of the notifications that come, and whom push services refuse. The lines are tried in this
    /// order. With `replacing`, those present are removed, else these come after them.
    public func script(_ scripts: [TelemetryScript], replacing: Bool = true) {
        messages.state.withLock { state in
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
            try hub.write(installation, at: clock())
        } catch {
            throw .invalidDevices(path: "in process", reason: error.answer.detail ?? "")
        }
    }

    /// Removes all registrations of devices, as of handles that are gone.
    package func forget(_ devices: [EmulatedDevice]) throws(HubEmulatorError) {
        let handles = Set(devices.map(\.handle))
        let keys = handles.flatMap { handle in HubPlatform.allCases.map { DeviceKey(platform: $0, handle: handle) } }
        do {
            try hub.devices.change { (book) throws(RefusedCall) in for key in keys { try book.expire(key) } }
        } catch {
            throw .invalidDevices(path: "in process", reason: error.answer.detail ?? "")
        }
    }

    /// Shows the devices that the store has in the listing, as far as they are not there.
    func meetKnown() throws(HubEmulatorError) {
        do {
            var cursor: Int? = 0
            while let from = cursor {
                let known = try hub.devices.read { (book) throws(RefusedCall) in
                    try book.page(of: .all, from: from, limit: 1000)
                }
                messages.state.withLock { state in
                    for registration in known.page { state.devices.meet(registration.deviceKey, handle: registration.handle) }
                }
                cursor = known.next
            }
        } catch {
            throw .invalidDevices(path: "in process", reason: error.answer.detail ?? "")
        }
    }

    private static func report(_ piece: DeviceLog.Piece, registrations: [Registration]) -> DeviceReport {
        DeviceReport(
            platform: piece.key.platform.format, handle: piece.handle, tags: registrations.allTags,
            installations: registrations.allInstallations, registrationCount: registrations.count,
            rungCount: piece.rungCount, rung: piece.rung, visibleCount: piece.visibleCount, areShown: piece.areShown)
    }
}
