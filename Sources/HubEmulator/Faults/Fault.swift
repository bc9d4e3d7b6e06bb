/// One scripted fault: what goes wrong, and with which calls.
///
/// Written as fields joined by commas, on the command line and at run time alike: `status=429,retry-after=2,count=3`.
/// ``FaultParser`` lists the fields.
public struct Fault: Sendable, Equatable {
    /// What goes wrong.
    public enum Effect: Sendable, Equatable {
        /// Nothing but the delay.
        case none
        /// An answer with this status; the hub does nothing else.
        case status(Int)
        /// As a throttled hub answers: 403 or 429, by api-version.
        case throttle
        /// The connection is reset, before or after the hub has done its work.
        case reset(Timing)
        /// No answer ever, before or after the hub has done its work.
        case hang(Timing)
        /// From the first call it meets and for this long, every call is reset, or answered with the status.
        case outage(Duration, status: Int?)
        /// The answer trickles, so many bytes at a time.
        case drip(byteCount: Int, every: Duration)
        /// The answer's body is cut off.
        case truncate
        /// Every connection ends after so many answers.
        case closeAfter(Int)
    }

    /// When the answer is lost.
    public enum Timing: String, Sendable {
        case before, after
    }

    /// What an answer made by a fault has as its body.
    public enum Body: String, Sendable {
        case error, empty, html, json
    }

    /// What `Retry-After` says (RFC 9110, 10.2.3).
    public enum RetryAfter: Sendable, Equatable {
        case seconds(Int)
        /// A date so many seconds ahead.
        case date(Int)
    }

    /// Which calls it meets; a field that is absent meets all of them.
    public struct Conditions: Sendable, Equatable {
        /// The complete tags header, or one of the tags in it.
        public var tags: String?
        /// The format header.
        public var format: String?
        /// The method.
        public var method: String?
        /// A part of path and query.
        public var path: String?
        /// The device handle of a direct send.
        public var handle: String?
    }

    /// The fault as it was written.
    public internal(set) var text = ""
    /// What goes wrong.
    public var effect = Effect.none
    /// How long the answer waits in any case.
    public var delay = Duration.zero
    /// The `Retry-After` of an answer made by the fault.
    public var retryAfter: RetryAfter?
    /// The body of an answer made by the fault.
    public var body = Body.error
    /// Which calls it meets.
    public var conditions = Conditions()
    /// So many calls that it would meet pass first.
    public var after = 0
    /// Only every so many-th call is met.
    public var every = 1
    /// Of the calls that are left, this share is met by chance: over 0, at most 1.
    public var chance = 1.0
    /// Begins the numbers by which chance decides: the same seed meets the same calls again.
    public var seed: UInt64 = 1
    /// How often it strikes; `nil` for always.
    public var count: Int?

    /// Reads a fault.
    ///
    /// - Parameter text: Fields joined by commas.
    /// - Throws: ``FaultError`` naming the field.
    public init(parsing text: String) throws(FaultError) {
        self = try FaultParser.parse(text)
    }

    init() {}
}

/// What is wrong with the text of a fault.
public enum FaultError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There are no fields.
    case empty
    /// No such field.
    case unknownField(String)
    /// The field's value is not allowed; `expected` says what is.
    case badValue(field: String, value: String, expected: String)
    /// A field stands twice.
    case repeatedField(String)
    /// Two effects in one fault.
    case conflictingEffects(String, String)
    /// A fault without any effect.
    case noEffect
    /// A field that means nothing without another.
    case needsStatus(String)
    /// A seed without a chance.
    case needsChance

    /// One plain sentence.
    public var description: String {
        switch self {
        case .empty: "a fault needs at least one field, such as status=500"
        case .unknownField(let field):
            "'\(field)' is not a field of a fault; known are \(FaultParser.fieldNames.joined(separator: ", "))"
        case .badValue(let field, let value, let expected): "'\(field)' cannot be '\(value)': expected \(expected)"
        case .repeatedField(let field): "'\(field)' is given twice"
        case .conflictingEffects(let first, let second): "'\(first)' and '\(second)' cannot be in one fault"
        case .noEffect:
            "the fault does nothing: add one of status, throttle, delay, reset, hang, outage, drip, truncate, close-after"
        case .needsStatus(let field): "'\(field)' needs 'status', 'throttle' or 'outage' with 'status'"
        case .needsChance: "'seed' needs 'chance'"
        }
    }
}
