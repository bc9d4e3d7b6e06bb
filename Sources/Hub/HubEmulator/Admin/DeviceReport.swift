import HubServer
public import HTTPServing

/// One device, its registrations and what has rung on it.
public struct DeviceReport: Sendable {
    /// The platform under the hub's format name: `apple`, `fcmv1`, …
    public let platform: String
    /// The handle as it was registered or first sent to.
    public let handle: String
    /// The tags of all its registrations, each once.
    public let tags: [String]
    /// The installations it belongs to.
    public let installations: [String]
    /// The number of its current registrations.
    public let registrationCount: Int
    /// Every notification since the last reset, those included that are no longer kept.
    public let rungCount: Int
    /// The kept notifications that rang, in order. On a page of a long list it is a part of them.
    public let rung: [RingReport]
    /// Every kept notification that a person would see.
    public let visibleCount: Int
    /// For each of `rung`, that no newer one replaces it.
    let areShown: [Bool]

    /// Those of `rung` that a person would see. Of those with one collapse id, only the newest is in its place.
    public var visible: [RingReport] { zip(rung, areShown).filter(\.1).map(\.0) }

    /// The device as the list of devices has it.
    var entry: DeviceEntry {
        DeviceEntry(
            platform: platform, handle: handle, tags: tags, installations: installations, registrationCount: registrationCount,
            rungCount: rungCount,
            rung: rung.map { ring in
                .init(
                    notificationID: ring.notificationID, callID: ring.callID, milliseconds: ring.milliseconds,
                    format: ring.format, template: ring.template, headers: ring.headers, body: ring.bytes)
            }, visibleCount: visibleCount, areShown: areShown)
    }
}

/// One notification as it rang.
public struct RingReport: Sendable {
    /// The notification's id, empty for test sends.
    public let notificationID: String
    /// The call that caused it.
    public let callID: Int
    /// The time of the ring, in milliseconds since 1970.
    public let milliseconds: Int64
    /// The format of the send.
    public let format: String
    /// The name of the template that was filled in, or "" for a template without a name.
    public let template: String?
    /// The bytes of the body, none when nothing is recorded.
    let bytes: [UInt8]
    /// The header fields for the push service.
    public let headers: HTTPFields
    /// Two rings of one device with the same key show one notification.
    let collapseKey: String?

    /// The body as the push service would have got it, empty when nothing is recorded.
    public var body: String { String(decoding: bytes, as: UTF8.self) }
}

/// A device to register in process.
public struct EmulatedDevice: Sendable {
    /// The installation's id, which is also its identity.
    public var id: String
    /// `apns`, `fcmV1`, `gcm`, `wns`, …: an installation's platform, in any case.
    public var platform: String
    /// The handle.
    public var handle: String
    /// The user of `$UserId:{…}`, if any.
    public var userID: String?
    /// The tags.
    public var tags: [String]
    /// Template bodies by name.
    public var templates: [String: String]

    /// Describes a device.
    public init(
        id: String, platform: String, handle: String, userID: String? = nil, tags: [String] = [],
        templates: [String: String] = [:]
    ) {
        self.id = id
        self.platform = platform
        self.handle = handle
        self.userID = userID
        self.tags = tags
        self.templates = templates
    }
}
