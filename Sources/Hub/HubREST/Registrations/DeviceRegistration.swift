public import Basics
internal import FanOut
public import PushModel

/// One registration of a handle, as the hub lists it (page HubProtocol, "Registrations").
///
/// Handles are secrets: no description shows them.
public struct DeviceRegistration: Sendable, Equatable {
    /// The notifications that a registration takes.
    public enum Kind: Sendable, Equatable {
        /// Those for its platform.
        case native
        /// Templates' values. The name is missing where the app gave none.
        case template(name: String?)
    }

    /// The id, 1 to 256 unreserved characters.
    public let id: String
    /// The version, as `DELETE` wants it, or nil when the hub gives none that can be sent back.
    public var etag: String?
    /// The push service, or nil for one that pushfan does not know, such as MPNS.
    public var platform: Platform?
    /// Native, or of a template.
    public var kind: Kind
    /// The handle: of a browser its endpoint, of Baidu the channel's id. Nil where the platform is.
    public var handle: String?
    /// The tags, with those that the hub makes itself.
    public var tags: [String]

    /// Describes a registration.
    public init(
        id: String, etag: String? = nil, platform: Platform?, kind: Kind = .native, handle: String?, tags: [String] = []
    ) {
        self.id = id
        self.etag = etag
        self.platform = platform
        self.kind = kind
        self.handle = handle
        self.tags = tags
    }

    /// True if it is a template's.
    public var isTemplate: Bool { kind != .native }

    /// True if it has a tag. Case does not matter.
    ///
    /// - Parameter tag: The tag.
    /// - Returns: Whether it has it.
    public func hasTag(_ tag: String) -> Bool {
        let tag = UserTag.folded(tag)
        return tags.contains { UserTag.folded($0) == tag }
    }

    /// The installation that it stands for, from its tag `$InstallationId:{…}`, or nil for a registration that was made as such.
    public var installationID: String? { reserved("$installationid:{") }

    /// The user of its tag `$UserId:{…}`.
    public var userID: String? { reserved("$userid:{") }

    private func reserved(_ prefix: String) -> String? {
        for tag in tags where tag.hasSuffix("}") && tag.lowercased().hasPrefix(prefix) {
            return String(tag.dropFirst(prefix.count).dropLast())
        }
        return nil
    }
}

extension DeviceRegistration: Concealed {
    /// The id, the platform and the kind.
    public var description: String {
        "DeviceRegistration(\(id), \(platform.map { "\($0.name)" } ?? "other"), \(isTemplate ? "template" : "native"))"
    }
}

/// One page of a list of registrations.
public struct RegistrationPage: Sendable, Equatable {
    /// The place where a list goes on: percent-encoded by the hub already, and sent back as it came (page HubProtocol,
    /// "Continuation").
    public struct Token: Sendable, Hashable {
        /// The text that the hub gave.
        public let text: String

        /// Checks a token.
        ///
        /// - Parameter text: 1 to 2,048 visible characters of ASCII that neither end a query's item nor the query; nil for anything else.
        public init?(_ text: String) {
            guard (1...2048).contains(text.utf8.count),
                text.utf8.allSatisfy({
                    $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#")
                })
            else { return nil }
            self.text = text
        }
    }

    /// The registrations, in the hub's order.
    public var registrations: [DeviceRegistration]
    /// The beginning of the next page, or nil on the last one.
    public var next: Token?

    /// Describes a page.
    public init(registrations: [DeviceRegistration], next: Token? = nil) {
        self.registrations = registrations
        self.next = next
    }
}
