import Basics
import DeviceHubs
import FanOut
import GatewayAPI
import PushModel

/// The body of `PUT /v1/installations/{id}`: a whole device.
///
/// Handles are secrets: no description shows them.
struct DeviceBody: Sendable, Equatable {
    var platform: Platform
    /// The handle in the form in which the hub keeps it (`DeviceToken`).
    var handle: String
    var user: UserTag?
    /// The tags, each once, without the user's.
    var tags: [String] = []
    /// The places of a user's tags that are reserved: the device must have them already.
    var claims: [String: String] = [:]
    var templates = DeviceTemplates()
    /// The moment when the hub forgets it, or nil for never.
    var expiresAt: Timestamp?

    init(platform: Platform, handle: String, user: UserTag? = nil, tags: [String] = []) {
        (self.platform, self.handle, self.user, self.tags) = (platform, handle, user, tags)
    }

    /// Reads a body strictly.
    ///
    /// - Throws: 400 with every fault and its JSON Pointer, 413, and 415.
    init(_ body: [UInt8], contentType: String?, for rights: DeviceRights, now: Timestamp) throws(APIProblem) {
        let document = try JSONBody.read(body, contentType: contentType)
        var reader = DeviceReader(document, for: rights, now: now)
        let members = reader.members(["platform", "handle", "user", "tags", "templates", "expires_at"])
        for name in ["platform", "handle"] where members[name] == nil { reader.note("\(name) is missing.", at: "/\(name)") }
        let service = members["platform"].flatMap { reader.platform(at: $0) }
        let form = members["handle"].flatMap { node in service.flatMap { reader.handle(at: node, on: $0) } }
        let user = members["user"].flatMap { reader.user(at: $0) } ?? rights.user
        let claims = members["tags"].map { reader.claims(at: $0) } ?? [:]
        let tags = members["tags"].map { reader.tags(at: $0, beside: user?.folded) } ?? []
        let templates = members["templates"].map { reader.templates(at: $0, beside: tags.count) }
        let expiry = members["expires_at"].flatMap { reader.expiry(at: $0) }
        guard let platform = service, let handle = form, reader.faults.isEmpty else { throw .invalid(reader.faults) }
        self.init(platform: platform, handle: handle, user: user, tags: tags)
        self.claims = claims
        self.templates = templates ?? DeviceTemplates()
        expiresAt = expiry
    }
}

extension DeviceBody: Concealed {
    /// The platform and the number of tags.
    var description: String { "DeviceBody(\(platform.name), \(tags.count) tags)" }
}
