internal import Outcomes

/// The reason that an answer of 200 is not taken for what was asked for.
public enum RegistrationFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// More bytes or registrations than are read.
    case tooLarge
    /// Neither well-formed XML nor JSON, whichever was expected, or XML that declares a document type, or is nested too deeply.
    case malformed
    /// Well formed, but something else than was asked for.
    case otherDocument
    /// A page for people, as of a sign-in or a proxy: what answers is no hub.
    case page
    /// A member or element is missing, stands twice, or holds what it never does. The name is one of the hub's own.
    case unexpected(String)
    /// A continuation token that cannot be sent back.
    case token
    /// A list without an end: a token came twice, or there are too many pages.
    case endless

    /// The fault that the reader of XML saw.
    init(_ fault: TelemetryFault) {
        switch fault {
        case .tooLarge: self = .tooLarge
        case .unexpected(let name): self = .unexpected(name)
        case .otherRoot: self = .otherDocument
        case .malformed, .documentType, .tooDeep, .invalidWord, .invalidCount, .tooManyCounts, .otherEntry, .otherListing:
            self = .malformed
        }
    }

    /// One plain sentence, which repeats nothing of the answer.
    public var description: String {
        switch self {
        case .tooLarge: "the answer is larger than any that is read"
        case .malformed: "the answer is not well formed"
        case .otherDocument: "the answer is something else than was asked for"
        case .page: "it is a page of HTML, as of a sign-in or a proxy, and no hub's"
        case .unexpected(let name): "\(name) is missing, stands twice or holds something unexpected"
        case .token: "the continuation token cannot be sent back"
        case .endless: "the list has no end"
        }
    }
}
