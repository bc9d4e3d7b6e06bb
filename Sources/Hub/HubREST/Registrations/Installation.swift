public import Basics
public import PushModel

/// An installation: one device, as the hub keeps it (page HubProtocol, "Installations").
///
/// A PUT replaces all of it, so what a GET gave is kept here and goes back with the next PUT. Handles are secrets: no description shows
/// them.
public struct Installation: Sendable, Equatable {
    /// The id, which is also its last path segment.
    public let id: String
    /// The push service.
    public var platform: InstallationPlatform
    /// The handle. Of a browser, the JSON object of its endpoint and keys.
    public var pushChannel: String
    /// The tags, without those that the hub makes itself.
    public var tags: [String]
    /// The user of `$UserId:{…}`.
    public var userID: String?
    /// The templates, as found.
    public var templates: JSONObjectText?
    /// The secondary tiles of WNS, as found.
    public var secondaryTiles: JSONObjectText?
    /// The push variables, as found.
    public var pushVariables: JSONObjectText?
    /// The time when the hub forgets it, as found, or nil for never.
    public var expirationTime: String?
    /// True if the push service has said that the handle is dead. The hub reports it, and it is never reported to the hub.
    public var isChannelExpired = false

    /// Describes a device without templates that never expires.
    public init(
        id: String, platform: InstallationPlatform, pushChannel: String, tags: [String] = [], userID: String? = nil
    ) {
        self.id = id
        self.platform = platform
        self.pushChannel = pushChannel
        self.tags = tags
        self.userID = userID
    }
}

extension Installation: Concealed {
    /// The platform alone.
    public var description: String { "Installation(\(platform.word))" }
}

/// The push service of an installation, by the hub's word for it there.
public enum InstallationPlatform: Sendable, Hashable {
    /// One that pushfan knows.
    case known(Platform)
    /// Another word, in small letters, such as `mpns`.
    case other(String)

    /// Reads the hub's word, in any case.
    ///
    /// - Parameter word: 1 to 32 letters and digits; nil for anything else.
    public init?(word: String) {
        guard (1...32).contains(word.utf8.count), word.utf8.allSatisfy(\.isLetterOrDigit) else {
            return nil
        }
        let folded = word.lowercased()
        let known = Platform.allCases.first { Self.known($0).word.lowercased() == folded }
        self = known.map { .known($0) } ?? .other(folded)
    }

    /// The word as the SDKs write it.
    public var word: String {
        switch self {
        case .known(.apple): "apns"
        case .known(.windows): "wns"
        case .known(.fcmv1): "fcmV1"
        case .known(let platform): "\(platform.name)"
        case .other(let word): word
        }
    }
}

/// A JSON object that is kept as text, because nothing here has to understand it.
public struct JSONObjectText: Sendable, Hashable {
    /// The object.
    public let text: String

    /// Checks a text.
    ///
    /// - Parameter text: One JSON object (RFC 8259); nil for anything else.
    public init?(_ text: String) {
        var document = JSONDocument()
        let bytes = Array(text.utf8)
        do { try document.read(bytes.span) } catch { return nil }
        guard document.kind(of: document.root) == .object else { return nil }
        self.text = text
    }

    /// A text that was read as an object.
    init(ofObject text: String) {
        self.text = text
    }
}

extension JSONObjectText: Concealed {
    /// The size alone: there may be handles in it.
    public var description: String { "JSONObjectText(\(text.utf8.count) bytes)" }
}
