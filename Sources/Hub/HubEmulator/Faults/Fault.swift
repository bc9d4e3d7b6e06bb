/// One scripted fault: its effect, and the calls that it strikes.
///
/// Written as fields joined by commas, on the command line and at run time alike: `status=429,retry-after=2,count=3`.
/// ``FaultParser`` lists the fields.
public struct Fault: Sendable, Equatable {
    /// The effect of a fault.
    public enum Effect: Sendable, Equatable {
        /// Nothing but the delay.
        case none
        /// An answer with this status. The hub does nothing else.
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

    /// The time at which the answer is lost.
    public enum Timing: String, Sendable {
        case before, after
    }

    /// The body of an answer that a fault makes.
    public enum Body: String, Sendable {
        case error, empty, html, json
    }

    /// The value of `Retry-After` (RFC 9110, 10.2.3).
    public enum RetryAfter: Sendable, Equatable {
        case seconds(Int)
        /// A date so many seconds ahead.
        case date(Int)
    }

    /// The conditions that a call must meet. An absent field admits every call.
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
    /// The effect of the fault.
    public var effect = Effect.none
    /// The delay of the answer in any case.
    public var delay = Duration.zero
    /// The `Retry-After` of an answer made by the fault.
    public var retryAfter: RetryAfter?
    /// The body of an answer made by the fault.
    public var body = Body.error
    /// The conditions that a call must meet.
    public var conditions = Conditions()
    /// The number of matching calls that pass first.
    public var after = 0
    /// Only every so many-th call is met.
    public var every = 1
    /// Of the calls that are left, this share is met by chance: over 0, at most 1.
    public var chance = 1.0
    /// Begins the numbers by which chance decides: the same seed meets the same calls again.
    public var seed: UInt64 = 1
    /// The number of strikes, or `nil` for no limit.
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

/// A mistake in the text of a fault.
public enum FaultError: ScriptError, Equatable, Sendable, CustomStringConvertible {
    /// There are no fields.
    case empty
    /// No such field.
    case unknownField(String)
    /// A value that the field does not allow. `expected` names the allowed ones.
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
