package import HTTPServing

/// A device as a push service knows it: the platform and the handle, which APNs tokens spell without regard to case.
package struct DeviceKey: Hashable, Sendable {
    package let platform: HubPlatform
    package let handle: String

    package init(platform: HubPlatform, handle: String) {
        self.platform = platform
        self.handle = platform == .apple ? handle.uppercased() : handle
    }
}

/// One registration: a handle, its tags and, in a template registration, the template.
package struct Registration: Sendable {
    package struct Template: Sendable {
        package var name: String?
        /// The body as it was registered.
        package var text: String
        package var body: BodyTemplate
        package var headers: HTTPFields = [:]
        package var expiry: String?
        package var priority: String?
        package var messageType: String?
    }

    package var id: String
    /// The number of writes, from 1, as in `W/"1"`.
    package var etag = 1
    package var platform: HubPlatform
    /// The handle as it was registered.
    package var handle: String
    /// Values of ``HubPlatform/handleExtras``, by element.
    package var extras: [String: String] = [:]
    package var tags: [String]
    package var template: Template?
    package var pushVariables: String?
    /// The installation from which the hub derived this registration.
    package var installationID: String?
    package var writtenAt: Int64 = 0
    /// The time from which it is sent nothing, in milliseconds since 1970. Nil for never.
    package var expiresAt: Int64?

    /// True if nothing is sent to it any more.
    package func isExpired(at now: Int64) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// The most bytes of its texts: far more than a push service takes of any template.
    package static let maximumByteCount = 64 << 10
    /// The most registrations of one device.
    package static let maximumCount = 200

    /// The bytes of its texts.
    package var byteCount: Int {
        let texts = [handle, pushVariables ?? "", installationID ?? "", id] + tags + extras.flatMap { [$0.key, $0.value] }
        return texts.reduce(template?.byteCount ?? 0) { $0 + $1.utf8.count }
    }

    /// Refuses a registration whose texts are too long.
    package func checkSize() throws(RefusedCall) {
        guard byteCount <= Self.maximumByteCount else {
            throw .invalid("A registration may have at most \(Self.maximumByteCount) bytes")
        }
    }

    package var deviceKey: DeviceKey { DeviceKey(platform: platform, handle: handle) }

    /// The tags in lower case, for matching.
    package var foldedTags: [String] { tags.map { $0.lowercased() } }

    /// True if another registration says the same of the same device, in whatever order and case of tags.
    func isEqual(to other: Registration) -> Bool {
        deviceKey == other.deviceKey && extras == other.extras && pushVariables == other.pushVariables
            && Set(foldedTags) == Set(other.foldedTags) && template.map(\.texts) == other.template.map(\.texts)
            && template?.headers == other.template?.headers
    }
}

extension Registration.Template {
    /// The texts without those of the header fields.
    fileprivate var texts: [String?] { [text, name, expiry, priority, messageType] }

    /// The bytes of its texts.
    var byteCount: Int { texts.reduce(headers.byteCount) { $0 + ($1?.utf8.count ?? 0) } }
}

extension HTTPFields {
    /// The bytes of names and values.
    var byteCount: Int { all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}
