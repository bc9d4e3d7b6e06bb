public import Basics

/// The standing of a hub: whether it counts as one that works, and when it is asked a question that sends nothing.
///
///     unknown  asked at once; it counts as not working, because nothing is known yet
///     held     it has not worked yet, and calls would not help: asked after waits that double, whatever there is to send
///     good     not asked: calls tell; but while its circuit is not closed and there is nothing to send, it is asked, as a probe
///     bad      asked while there is nothing to send, after waits that double
///
/// What tells first decides, a question or a call. Until the hub has worked once, calls are held and questions decide: the first calls
/// with a wrong key would end their requests. Moments are nanoseconds of a monotonic clock that the owner reads.
public struct HubAvailability: Sendable, Equatable {
    private enum Knowledge: Sendable, Equatable {
        case unknown, good
        /// The reason why it does not work: a sentence.
        case bad(String)
    }

    /// The reason why no call may be made to a hub that has not worked yet.
    public enum Hold: Sendable, Equatable {
        /// It has not answered its first question.
        case unasked
        /// It refuses the key.
        case keyRefused
        /// It is not there, or there is no connection to it that can be trusted.
        case away

        /// True if a worker may take requests for it, which then wait as in an outage. While the key may be wrong, other workers
        /// have better use for them.
        public var allowsJoining: Bool { self == .away }
    }

    /// Calls in a row that must fail before they tell something of the hub.
    private static let failureLimit = 3
    /// The wait after the first bad finding, and the longest, nanoseconds: 1 s and 30 s.
    private static let firstWait: Int64 = 1_000_000_000
    private static let longestWait: Int64 = 30_000_000_000
    /// The longest wait while calls are held or the key is refused, nanoseconds: 5 s, as that of a circuit's probe.
    private static let longestHeldWait: Int64 = 5_000_000_000
    /// The wait between the probes of a hub that works again, nanoseconds.
    private static let probeWait: Int64 = 100_000_000

    private let name: String
    private let isAsked: Bool
    private var knowledge: Knowledge
    /// True if it is known to work, without a comparison of texts, because each answer asks.
    private var isGood: Bool { if case .good = knowledge { true } else { false } }
    /// The reason why calls are held, or nil when they may be made.
    public private(set) var hold: Hold?
    /// True if it has ever worked, as far as is known.
    private var hasWorked: Bool
    private var isAsking = false
    /// True if a call was answered while the hub was being asked: the call is the better proof.
    private var hasAnswered = false
    private var failureCount = 0
    private var wait = firstWait
    private var nextQuestion = MonotonicTime.past

    /// A hub of which nothing is known.
    ///
    /// - Parameters:
    ///   - name: Its name, for sentences.
    ///   - isAsked: Whether it is ever asked. If not, it counts as good until calls fail.
    public init(of name: String, isAsked: Bool) {
        self.name = name
        self.isAsked = isAsked
        knowledge = isAsked ? .unknown : .good
        hold = isAsked ? .unasked : nil
        hasWorked = !isAsked
    }

    /// True if a question is due.
    ///
    /// - Parameters:
    ///   - isClosed: Whether its circuit is closed.
    ///   - isIdle: Whether there is nothing to send to it.
    ///   - now: The present moment.
    /// - Returns: Whether to ask it now, unless its circuit forbids that at present.
    public func isDue(isClosed: Bool, isIdle: Bool, now: MonotonicTime) -> Bool {
        guard isAsked, !isAsking, now >= nextQuestion else { return false }
        if hold != nil { return true }
        return isIdle && !isWell(isClosed: isClosed)
    }

    /// Notes that it is asked.
    public mutating func asked() {
        isAsking = true
        hasAnswered = false
    }

    /// Notes that the hub refused the question's token, and that another is tried before there is a finding.
    public mutating func mustAskAgain() { isAsking = false }

    /// Notes what came of the question.
    public mutating func note(_ finding: HubFinding, now: MonotonicTime) {
        isAsking = false
        guard finding.isBad else {
            answered()
            nextQuestion = now + Self.probeWait
            return
        }
        guard !hasAnswered else { return }
        knowledge = .bad("the hub \(name) \(finding.words)")
        hold = hasWorked ? nil : finding.hold
        nextQuestion = now + wait
        wait = min(wait * 2, hold == nil && finding.kind != .keyRefused ? Self.longestWait : Self.longestHeldWait)
    }

    /// Notes that a call was answered as by a hub that works.
    public mutating func answered() {
        hasAnswered = true
        hasWorked = true
        hold = nil
        failureCount = 0
        guard !isGood else { return }
        knowledge = .good
        wait = Self.firstWait
    }

    /// Notes that a call failed as it does when the hub, the way to it or the key is at fault, which `reason` names in a word or
    /// two. A single one says nothing yet, unless it is a proof, as the refusal of every key is.
    public mutating func noteFailure(_ reason: @autoclosure () -> String, isProof: Bool = false) {
        failureCount = isProof ? Self.failureLimit : failureCount + 1
        guard failureCount >= Self.failureLimit else { return }
        knowledge = .bad("calls to the hub \(name) fail: \(reason())")
    }

    /// True if the hub counts as one that works.
    ///
    /// - Parameter isClosed: Whether its circuit is closed.
    /// - Returns: True when the last that was heard of it is good, and its circuit is closed.
    public func isWell(isClosed: Bool) -> Bool { isClosed && isGood }

    /// The reason why the hub does not count as one that works.
    ///
    /// - Parameters:
    ///   - isClosed: Whether its circuit is closed.
    ///   - reason: Why that has opened.
    /// - Returns: A sentence; nil when it does.
    public func problem(isClosed: Bool, reason: CircuitBreaker.OpenCause?) -> String? {
        let circuit = "the circuit of the hub \(name) is open (\(reason?.rawValue ?? "")): only probes are made"
        return switch (knowledge, isClosed) {
        case (.unknown, true): "the hub \(name) is being asked whether it takes the key"
        case (.good, true): nil
        case (.bad(let sentence), true): sentence
        case (.unknown, false), (.good, false): circuit
        case (.bad(let sentence), false): "\(sentence); \(circuit)"
        }
    }
}

extension HubFinding {
    /// The reason why calls to a hub that has not worked yet must wait after this, or nil when they may be made. One that answers
    /// as if it were out gets them, because something else than the hub may answer the question so.
    fileprivate var hold: HubAvailability.Hold? {
        switch kind {
        case .good, .throttled, .rightUnknown, .unclear, .failing: nil
        case .keyRefused: .keyRefused
        case .missing, .unreachable, .foreign, .untrusted: .away
        }
    }
}
