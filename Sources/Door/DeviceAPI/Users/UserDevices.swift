import Basics
import FanOut
import HubREST
import PushModel

/// The devices of a user, as hubs list them: a row for each installation, however many templates it has, and for each registration
/// without one.
///
/// Handles are secrets: no description shows them.
struct UserDevices {
    private struct Name: Hashable {
        let hub: String
        let installation: String?
        let registration: String?
    }

    private struct Row {
        let registration: DeviceRegistration
        var tags: [String] = []
        var templates: [String] = []
    }

    private let user: String
    private let tag: UserTag
    private let showsHandles: Bool
    private var rows: [Name: Row] = [:]
    private var order: [Name] = []

    /// No devices yet. `user` is the name as it was given, and `tag` the one of the user's devices.
    init(of user: String, tag: UserTag, showsHandles: Bool) {
        (self.user, self.tag, self.showsHandles) = (user, tag, showsHandles)
    }

    /// Adds what a hub lists. A registration may be there more than once.
    mutating func add(_ registrations: [DeviceRegistration], at hub: String) {
        for registration in registrations {
            let installation = registration.installationID
            let name = Name(hub: hub, installation: installation, registration: installation == nil ? registration.id : nil)
            var row = rows.removeValue(forKey: name) ?? Row(registration: registration)
            if rows.count == order.count { order.append(name) }
            let known = Set(row.tags)
            row.tags += registration.tags.filter { tag in
                tag.utf8.first != UInt8(ascii: "$") && !UserTag.isSame(tag, as: self.tag) && !known.contains(tag)
            }
            if case .template(let template?) = registration.kind, !row.templates.contains(template) {
                row.templates.append(template)
            }
            rows[name] = row
        }
    }

    /// The list as the API gives it, with the cursor behind it.
    func json(next: String?) -> [UInt8] {
        var json = JSONObject()
        json.add("items", array: order.compactMap { name in rows[name].map { object($0, named: name) } })
        if let next { json.add("next", value: next) } else { json.add("next", raw: Array("null".utf8)) }
        return json.bytes
    }

    private func object(_ row: Row, named name: Name) -> [UInt8] {
        let platform = row.registration.platform
        var object = JSONObject([
            "id": name.installation, "registration_id": name.registration,
            "platform": platform.map { InstallationPlatform.known($0).word.lowercased() } ?? "other",
        ])
        if let platform, let handle = row.registration.handle { add(handle, on: platform, to: &object) }
        object.add("user", value: user)
        // A template's name is a tag that the hub makes itself.
        object.add("tags", texts: row.tags.filter { !row.templates.contains($0) }.sorted())
        object.add("template_names", texts: row.templates.sorted())
        object.add("hub", value: name.hub)
        return object.bytes
    }

    private func add(_ handle: String, on platform: Platform, to object: inout JSONObject) {
        if showsHandles { return object.add("handle", value: handle) }
        // Of these a list has a part alone, whose digest would be another device's.
        guard platform != .browser, platform != .baidu else { return }
        let form = DeviceToken.hashedForm(of: handle, on: platform)
        let digest = SHA256.hexadecimalDigest(of: Array(form.utf8))
        object.add("handle_sha256", value: String(decoding: digest, as: UTF8.self))
    }
}

extension UserDevices: Concealed {
    /// The name alone.
    var description: String { "UserDevices" }
}
