public import Basics
internal import FanOut
internal import HubAuth
public import PushModel

/// One call that writes or reads what a hub knows of devices (page HubProtocol, "Devices"). Each may be made again without harm.
///
/// Handles are secrets: no description shows them.
public enum RegistrationCall: Sendable, Equatable {
    /// `PUT /installations/{id}`: creates or replaces.
    case putInstallation(Installation)
    /// `GET /installations/{id}`.
    case getInstallation(id: String)
    /// `PATCH /installations/{id}`: all changes in their order, or none. Where there is no such installation, it fails.
    case patchInstallation(id: String, changes: [InstallationChange])
    /// `DELETE /installations/{id}`.
    case deleteInstallation(id: String)
    /// `GET /registrations?$filter=…`: the registrations of one handle. `platform` nil looks on every platform, which hubs are recorded
    /// to do and no page documents; `count` is how many a page may have, 1 to 100; `token` is where the page before has ended.
    case listRegistrations(handle: String, platform: Platform?, count: Int, token: RegistrationPage.Token?)
    /// `GET /tags/{tag}/registrations`: the registrations that have a tag. It needs the right Manage.
    case listTagged(tag: String, count: Int, token: RegistrationPage.Token?)
    /// `DELETE /registrations/{id}`: in the version `etag`, or in any when it is nil.
    case deleteRegistration(id: String, etag: String?)

    /// A short name, safe as a metric's label.
    public var name: StaticString {
        switch self {
        case .putInstallation: "installation.put"
        case .getInstallation: "installation.get"
        case .patchInstallation: "installation.patch"
        case .deleteInstallation: "installation.delete"
        case .listRegistrations: "registration.list"
        case .listTagged: "registration.tag"
        case .deleteRegistration: "registration.delete"
        }
    }

    var method: StaticString {
        switch self {
        case .putInstallation: "PUT"
        case .patchInstallation: "PATCH"
        case .getInstallation, .listRegistrations, .listTagged: "GET"
        case .deleteInstallation, .deleteRegistration: "DELETE"
        }
    }

    /// Path and query behind the hub's name, up to the api-version, or nil when no hub can have such an id or handle.
    var target: [UInt8]? {
        switch self {
        case .putInstallation(let installation): Self.target(ofInstallation: installation.id)
        case .getInstallation(let id), .deleteInstallation(let id): Self.target(ofInstallation: id)
        case .patchInstallation(let id, let changes): changes.isEmpty ? nil : Self.target(ofInstallation: id)
        case .listTagged(let tag, let count, _): Self.target(ofTag: tag, count: count)
        case .listRegistrations(let handle, let platform, let count, _): Self.target(ofList: handle, on: platform, count: count)
        case .deleteRegistration(let id, _): Self.target(ofRegistration: id)
        }
    }

    /// The hub makes a tag of an installation's id, so that it can hold what a tag can.
    private static func target(ofInstallation id: String) -> [UInt8]? {
        guard (try? HubTag.installation(id)) != nil, id.contains(where: { $0 != "." }) else { return nil }
        return Array("installations/".utf8) + HandleFilter.encoding.encode(id.utf8) + Array("?".utf8)
    }

    private static func target(ofRegistration id: String) -> [UInt8]? {
        let bytes = Array(id.utf8)
        guard HubClient.isUsable(bytes.span) else { return nil }
        return Array("registrations/".utf8) + bytes + Array("?".utf8)
    }

    private static func target(ofList handle: String, on platform: Platform?, count: Int) -> [UInt8]? {
        guard (1...DeviceToken.maximumByteCount).contains(handle.utf8.count) else { return nil }
        let filter = HandleFilter.encoded(handle, on: platform)
        return Array("registrations?$filter=".utf8) + filter + Array("&\(top(count))".utf8)
    }

    private static func target(ofTag tag: String, count: Int) -> [UInt8]? {
        guard (try? HubTag(tag)) != nil, tag.contains(where: { $0 != "." }) else { return nil }
        return Array("tags/".utf8) + HandleFilter.encoding.encode(tag.utf8) + Array("/registrations?\(top(count))".utf8)
    }

    private static func top(_ count: Int) -> String { "$top=\(min(max(count, 1), 100))&" }

    /// The place where a list goes on.
    var token: RegistrationPage.Token? {
        switch self {
        case .listRegistrations(_, _, _, let token), .listTagged(_, _, let token): token
        default: nil
        }
    }

    /// The body, and its content type.
    var content: (type: StaticString, body: [UInt8])? {
        switch self {
        case .putInstallation(let installation): ("application/json", installation.body)
        case .patchInstallation(_, let changes): ("application/json-patch+json", InstallationChange.body(of: changes))
        default: nil
        }
    }
}

extension RegistrationCall: Concealed {
    /// The name.
    public var description: String { "\(name)" }
}
