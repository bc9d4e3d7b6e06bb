import Basics
import DeviceHubs
import FanOut
import GatewayAPI
import HTTPServing
import HubREST
import PushModel

/// An answer about a device: its body, whose members always stand in one order, and its tag.
///
/// Handles are secrets: no description shows them.
struct DeviceAnswer {
    private let installation: Installation
    private let hub: String
    private let rights: DeviceRights
    private let moved: [DeviceDesk.Moved]

    /// Tells of a device at a hub, as much as the caller may see of it.
    init(_ installation: Installation, at hub: String, for rights: DeviceRights, moved: [DeviceDesk.Moved] = []) {
        (self.installation, self.hub, self.rights, self.moved) = (installation, hub, rights, moved)
    }

    /// 200 with the device.
    var answer: APIAnswer { APIAnswer(status: 200, json: json, headers: headers) }

    /// 304.
    var unchanged: APIAnswer { APIAnswer(status: 304, headers: headers) }

    /// The tag of the device as the caller sees it, without what moved.
    var tag: String {
        "\"\(String(decoding: SHA256.hexadecimalDigest(of: members.bytes), as: UTF8.self))\""
    }

    private var headers: HTTPFields { ["ETag": tag, "Cache-Control": "no-cache"] }

    private var json: [UInt8] {
        var object = members
        if !moved.isEmpty { object.add("moved_from", array: moved.map { JSONObject(["id": $0.id, "user": $0.user]).bytes }) }
        return object.bytes
    }

    private var members: JSONObject {
        let owner = DeviceOwner(of: installation, by: rights.rules.users)
        var object = JSONObject(["id": installation.id, "platform": installation.platform.word.lowercased()])
        addHandle(to: &object)
        object.add("user", value: owner?.name)
        let tags = installation.plainTags(beside: owner, of: rights.rules.users)
        object.add("tags", array: tags.sorted().map(JSONObject.text))
        object.add("templates", raw: DeviceTemplates(installation.templates).json)
        object.add("expires_at", value: installation.expirationTime.map(Self.moment))
        object.add("is_expired", value: installation.isChannelExpired)
        object.add("hub", value: hub)
        return object
    }

    private func addHandle(to object: inout JSONObject) {
        var platform: Platform?
        if case .known(let known) = installation.platform { platform = known }
        let form = DeviceToken.identity(of: installation.pushChannel, on: platform)
        guard rights.showsHandles else {
            let digest = SHA256.hexadecimalDigest(of: Array(DeviceToken.hashedForm(of: form, on: platform).utf8))
            return object.add("handle_sha256", value: String(decoding: digest, as: UTF8.self))
        }
        let subscription = platform == .browser ? JSONObjectText(form) : nil
        object.add("handle", raw: subscription.map { Array($0.text.utf8) } ?? JSONObject.text(form))
    }

    /// RFC 3339 where it can be read as that. Hubs leave out the zone.
    private static func moment(_ text: String) -> String {
        let read = Timestamp(text.utf8Span.span) ?? Timestamp("\(text)Z".utf8Span.span)
        return read?.text ?? text
    }
}

extension DeviceAnswer: Concealed {
    /// The name alone.
    var description: String { "DeviceAnswer" }
}
