/// Trouble with a hub or a server beside it, in a sentence without secrets, with a remedy if there is one to name.
package struct PeerFailure: RoomFailure {
    /// The kind of trouble.
    package enum Kind: Sendable, Equatable {
        /// The settings of the call cannot work.
        case misconfigured
        /// No answer comes.
        case unreachable
        /// It stays busy.
        case busy
        /// It does not allow the call.
        case refused
        /// Anything else.
        case failed
    }

    /// The remedy for a hub that its namespace does not have.
    package static let missingHubRemedy =
        "set hub.name as the portal shows it, and hub.connection_string as that of the namespace it is in"

    /// The kind of trouble.
    package let kind: Kind
    /// The sentence.
    package let text: String
    /// The remedy.
    package let hint: String?
}

extension JobFailure {
    /// Trouble with a hub or a server beside it.
    package static func peer(_ kind: PeerFailure.Kind, _ text: String, hint: String? = nil) -> JobFailure {
        .room(PeerFailure(kind: kind, text: text, hint: hint))
    }
}
