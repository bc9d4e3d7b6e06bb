import Basics
import HTTPServing
import HubServer
import HubStore

/// The list of a hub's devices, with the pushes that are recorded of each.
struct DeviceListing: Sendable {
    let parts: HubParts
    let recording: RecordingService

    /// Answers with a page of the devices: all, those with a handle, or those with a registration that has a tag.
    ///
    /// Each has the place of its registration that was written first, so that no device is on two pages. Devices that never had a
    /// registration, and something rang on them, are behind the last.
    func answer(to request: HTTPServerRequest) -> HTTPServerResponse {
        let (handle, tag) = (request.queryValue("handle"), request.queryValue("tag"))
        let list: RegistrationList = tag.map { .tagged($0.lowercased()) } ?? .all
        do throws(RefusedCall) {
            return try ListPage.answer(
                to: request, reading: Self.place, or: "'after' must be what a link to the next page has"
            ) { (cursor, limit) throws(RefusedCall) -> ListPage in
                let count = Int(try parts.counts().devices)
                if let handle {
                    return ListPage(body: try page(ofHandle: handle, tag: tag), next: nil, count: count)
                }
                let (found, next) = try devices(of: list, from: cursor ?? 0, limit: limit)
                let pushes = pushes()
                var entries = found.map { Self.entry(of: $0.key, registrations: $0.registrations, pushes: pushes[$0.key] ?? []) }
                if next == nil, tag == nil, limit > 0 { entries += try unregistered() }
                return ListPage(body: ReportJSON.line(of: entries.map(\.json)), next: next.map { "\($0)" }, count: count)
            }
        } catch {
            return .text("\(error.answer.detail ?? "")\n", status: error.answer.status)
        }
    }

    /// The place behind some registrations, of 1 to 18 digits.
    private static func place(_ text: String) -> Int? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }

    private typealias Known = (key: DeviceKey, registrations: [Registration])

    private func devices(of list: RegistrationList, from cursor: Int, limit: Int) throws(RefusedCall) -> ([Known], Int?) {
        guard limit > 0 else { return ([], cursor) }
        return try parts.devices.read { (book) throws(RefusedCall) -> ([Known], Int?) in
            let (page, next) = try book.page(of: list, from: cursor, limit: limit)
            var (found, seen) = ([Known](), Set<DeviceKey>())
            for registration in page where seen.insert(registration.deviceKey).inserted {
                let key = registration.deviceKey
                let registrations = try book.registrations(of: key)
                let first =
                    if case .tagged(let tag) = list {
                        registrations.first { $0.foldedTags.contains(tag) }
                    } else { registrations.first }
                if first?.id == registration.id { found.append((key, registrations)) }
            }
            return (found, next)
        }
    }

    private func page(ofHandle handle: String, tag: String?) throws(RefusedCall) -> [UInt8] {
        let keys = HubPlatform.allCases.map { DeviceKey(platform: $0, handle: handle) }
        try recording.forgetRemoved(from: parts.devices, among: Set(keys))
        let known = try parts.devices.read { (book) throws(RefusedCall) -> [Known] in
            var known: [Known] = []
            for key in keys { known.append((key, try book.registrations(of: key))) }
            return known
        }
        let pushes = pushes()
        let entries = known.compactMap { device -> DeviceEntry? in
            let rung = pushes[device.key] ?? []
            let isMeant = tag.map { tag in device.registrations.contains { $0.foldedTags.contains(tag.lowercased()) } }
            guard isMeant ?? (!device.registrations.isEmpty || !rung.isEmpty) else { return nil }
            return Self.entry(of: device.key, registrations: device.registrations, pushes: rung)
        }
        return ReportJSON.line(of: entries.map(\.json))
    }

    /// Devices on which something rang, and which never had a registration. Nothing is shown of those that were removed.
    private func unregistered() throws(RefusedCall) -> [DeviceEntry] {
        try recording.forgetRemoved(from: parts.devices)
        let pushes = pushes()
        let strangers = try parts.devices.read { (book) throws(RefusedCall) -> [DeviceKey] in
            var strangers: [DeviceKey] = []
            for key in pushes.keys where try book.registrations(of: key).isEmpty { strangers.append(key) }
            return strangers
        }
        return strangers.sorted { ($0.platform.code, $0.handle) < ($1.platform.code, $1.handle) }
            .map { Self.entry(of: $0, registrations: [], pushes: pushes[$0] ?? []) }
    }

    private func pushes() -> [DeviceKey: [RecordedPush]] {
        Dictionary(grouping: recording.pushes) { $0.delivery.device }
    }

    private static func entry(of key: DeviceKey, registrations: [Registration], pushes: [RecordedPush]) -> DeviceEntry {
        var newest: [String: String] = [:]
        for push in pushes { if let collapse = push.delivery.collapseKey { newest[collapse] = push.id } }
        let areShown = pushes.map { push in push.delivery.collapseKey.map { newest[$0] == push.id } ?? true }
        return DeviceEntry(
            platform: key.platform.format, handle: registrations.first?.handle ?? pushes.first?.delivery.handle ?? key.handle,
            tags: registrations.allTags, installations: registrations.allInstallations,
            registrationCount: registrations.count, rungCount: pushes.count,
            rung: pushes.map { push in
                .init(
                    notificationID: push.message.id, callID: push.message.callID, milliseconds: push.at,
                    format: push.message.format, template: push.delivery.template, headers: push.delivery.headers,
                    body: push.delivery.body)
            }, visibleCount: areShown.count { $0 }, areShown: areShown)
    }
}
