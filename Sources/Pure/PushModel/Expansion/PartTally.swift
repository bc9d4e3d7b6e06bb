/// The fate of one part of a large request, as the topic of parents holds it until all parts have ended.
public struct PartTally: Sendable, Equatable {
    /// The number of the part.
    public var chunk: Int
    /// The state of the part.
    public var state: ResultState
    /// The class of how it ended.
    public var outcome: Outcome
    /// The reason why it was no success.
    public var code: ErrorCode?
    /// The safety of a replay of the part, as its own result says it.
    public var safety: ReplaySafety
    /// The calls that the hub took.
    public var accepted = 0
    /// The calls of which it is unknown whether the hub took them.
    public var ambiguous = 0
    /// The attempts of the call that had most.
    public var attempts = 0
    /// The moment of its first call.
    public var firstAttemptAt: Timestamp?
    /// The time spent in calls, in milliseconds.
    public var hubTime: Int64 = 0
    /// The time spent waiting because the hub said so, in milliseconds.
    public var throttleWait: Int64 = 0

    /// The tally of a part, which may be replayed as state and reason say where `safety` is nil.
    public init(chunk: Int, state: ResultState, outcome: Outcome, code: ErrorCode? = nil, safety: ReplaySafety? = nil) {
        self.chunk = chunk
        self.state = state
        self.outcome = outcome
        self.code = code
        self.safety = safety ?? ReplaySafety(of: outcome, code: code)
    }

    /// The tally of what a part came to.
    public init(chunk: Int, conclusion: Conclusion, report: borrowing DeliveryReport) {
        self.init(
            chunk: chunk, state: conclusion.state, outcome: conclusion.outcome, code: conclusion.code,
            safety: ReplaySafety(of: conclusion, report: report))
        accepted = report.calls.count { $0.outcome == .success }
        ambiguous = report.calls.count { $0.outcome == .ambiguous }
        attempts = report.attemptCount
        firstAttemptAt = report.firstAttemptAt
        hubTime = report.hubTime
        throttleWait = report.throttleWait
    }

    /// Reads a record's value. Nil for one that this version did not write.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - chunk: What the record's key says.
    public init?(_ value: Span<UInt8>, chunk: Int) {
        var document = JSONDocument()
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard document.integer("v", of: root) == 1,
            let state = document.text("state", of: root).flatMap(ResultState.init(rawValue:)),
            let outcome = document.text("outcome", of: root).flatMap(Outcome.init(rawValue:))
        else { return nil }
        self.init(
            chunk: chunk, state: state, outcome: outcome,
            code: document.text("code", of: root).flatMap(ErrorCode.init(rawValue:)),
            safety: document.text("safety", of: root).flatMap(ReplaySafety.init(rawValue:)))
        func count(_ name: StaticString) -> Int64 { min(max(0, document.integer(name, of: root) ?? 0), 1 << 40) }
        accepted = Int(count("accepted"))
        ambiguous = Int(count("ambiguous"))
        attempts = Int(count("attempts"))
        firstAttemptAt = document.integer("first", of: root).map { Timestamp(milliseconds: $0) }
        hubTime = count("hub_ms")
        throttleWait = count("throttle_ms")
        // Older versions wrote no safety. A call in doubt may be beside one that failed for good.
        if document.text("safety", of: root) == nil, ambiguous > 0 { safety = .ambiguous }
    }

    /// Appends the value of the record.
    public func append(to json: inout ByteWriter) {
        json.append("{\"v\":1,\"state\":", word: state.rawValue)
        json.append(",\"outcome\":", word: outcome.rawValue)
        json.append(",\"code\":", word: code?.rawValue)
        json.append(",\"safety\":", word: safety.rawValue)
        json.append(",\"accepted\":", decimal: accepted)
        json.append(",\"ambiguous\":", decimal: ambiguous)
        json.append(",\"attempts\":", decimal: attempts)
        json.append(",\"first\":", decimal: firstAttemptAt?.milliseconds)
        json.append(",\"hub_ms\":", decimal: hubTime)
        json.append(",\"throttle_ms\":", decimal: throttleWait)
        json.append("}")
    }
}
