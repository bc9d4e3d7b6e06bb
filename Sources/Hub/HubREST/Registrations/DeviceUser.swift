public import Basics
internal import FanOut
internal import PushModel

/// The user whose devices are looked for, by the tags that they have at a hub.
public struct DeviceUser: Sendable {
    /// The user's tag, such as `username:alice`, and `$UserId:{alice}` where the name can be in a tag.
    public let tags: [String]

    /// Knows the tags of a user.
    ///
    /// - Parameters:
    ///   - tag: The user's tag, such as `username:alice`.
    ///   - userID: The user of `$UserId:{…}`, that is, the tag's form.
    public init(tag: String, userID: String) {
        tags = [tag] + ((try? HubTag.user(userID).text).map { [$0] } ?? [])
    }

    /// Makes a call of the removal of the user's devices.
    ///
    /// Before an installation is removed it is read. A hub's lists are late, and another user may have the device by now.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - perform: Makes one call.
    /// - Returns: The reply, or the installation that was not removed because it is another's.
    /// - Throws: ``RegistrationFailure``.
    public func perform(
        _ call: RegistrationCall, by perform: (RegistrationCall) throws(RegistrationFailure) -> RegistrationReply
    ) throws(RegistrationFailure) -> RegistrationReply {
        if case .deleteInstallation(let id) = call, case .installation(let found) = try perform(.getInstallation(id: id)),
            !owns(found)
        {
            return .installation(found)
        }
        return try perform(call)
    }

    /// True if either tag is the user's, of a template, too.
    private func owns(_ installation: Installation) -> Bool {
        let own = tags.map(UserTag.folded)
        let all = installation.tags + [installation.userID.flatMap { try? HubTag.user($0).text }].compactMap(\.self)
        if all.contains(where: { own.contains(UserTag.folded($0)) }) { return true }
        guard let templates = installation.templates.map({ UserTag.folded($0.text) }) else { return false }
        return own.contains { templates.contains("\"\($0)\"") }
    }
}

extension DeviceUser: Concealed {
    /// The name alone: whose devices they are belongs into no log.
    public var description: String { "DeviceUser" }
}
