/// The reason why an answer is not taken for a notification's telemetry.
public enum TelemetryFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// More bytes than `NotificationTelemetry.maximumByteCount`.
    case tooLarge
    /// No well-formed XML. The offset is that of the byte where that was seen.
    case malformed(offset: Int)
    /// A document type, with which entities could be defined.
    case documentType
    /// Elements inside one another more deeply than any telemetry has them.
    case tooDeep
    /// XML, but its root is not `NotificationDetails`.
    case otherRoot
    /// An element stands twice, or holds what it never does. The name is one of telemetry's own.
    case unexpected(String)
    /// A state, an outcome or a platform that is no word of letters and digits, or too long for one.
    case invalidWord
    /// A count that is no whole number of 0 or more.
    case invalidCount
    /// More counts than any hub has names for.
    case tooManyCounts
    /// XML, but an element of a list of refused devices is not `PnsFeedback`.
    case otherEntry
    /// XML, but its root is not `EnumerationResults`.
    case otherListing

    /// True if the XML around what is wrong is well formed, so that one can go on behind it.
    var isOfContent: Bool {
        switch self {
        case .unexpected, .invalidWord, .otherEntry: true
        default: false
        }
    }

    /// One plain sentence that repeats nothing of the answer.
    public var description: String {
        switch self {
        case .tooLarge: "the answer is larger than telemetry ever is"
        case .malformed(let offset): "the answer is not well-formed XML at byte \(offset)"
        case .documentType: "the answer declares a document type"
        case .tooDeep: "the answer's elements are nested too deeply"
        case .otherRoot: "the answer is not a NotificationDetails element"
        case .unexpected(let name): "the element \(name) stands twice or holds something unexpected"
        case .invalidWord: "a state, an outcome or a platform is not a word"
        case .invalidCount: "a count is not a whole number"
        case .tooManyCounts: "the answer has too many counts"
        case .otherListing: "the answer is not an EnumerationResults element"
        case .otherEntry: "the list holds something that is not a PnsFeedback element"
        }
    }
}
