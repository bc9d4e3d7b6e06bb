import HTTPServing

/// A device as a push service knows it: the platform and the handle, which APNs tokens spell without regard to case.
struct DeviceKey: Hashable, Sendable {
    let platform: HubPlatform
    let handle: String

    init(platform: HubPlatform, handle: String) {
        self.platform = platform
        self.handle = platform == .apple ? handle.uppercased() : handle
    }
}

/// One registration: a handle, its tags and, in a template registration, the template.
struct Registration: Sendable {
    struct Template: Sendable {
        var name: String?
        /// The body as it was registered.
        var text: String
        var body: BodyTemplate
        var headers: HTTPFields = [:]
        var expiry: String?
        var priority: String?
        var messageType: String?
    }

    var id: String
    /// The number of writes, from 1, as in `W/"1"`.
    var etag = 1
    var platform: HubPlatform
    /// The handle as it was registered.
    var handle: String
    /// Values of ``HubPlatform/handleExtras``, by element.
    var extras: [String: String] = [:]
    var tags: [String]
    var template: Template?
    var pushVariables: String?
    /// The installation from which the hub derived this registration.
    var installationID: String?
    var writtenAt: Int64 = 0

    var deviceKey: DeviceKey { DeviceKey(platform: platform, handle: handle) }

    /// The tags in lower case, for matching.
    var foldedTags: [String] { tags.map { $0.lowercased() } }
}
