import Basics
public import PushModel

/// The content of a result about each of its request's sends, as far as a replay asks (page Results).
public struct SettledResult: Sendable {
    /// The request, by its place, its id and its record's time.
    public let original: Original
    /// The request's id.
    public let requestID: String
    /// The result tells what the hub's telemetry said, rather than what the calls' answers were.
    public let isOutcome: Bool
    /// The number of calls that were planned, or 0 when the request ended before any.
    public let plannedCount: Int
    /// The platforms of the sends, one after another, as a number. It shows whether a plan made again is the same one.
    public private(set) var platforms = PlatformSequence()
    /// The sends that reached their devices.
    public private(set) var delivered = SendSet()
    /// The sends that reached no device, and can succeed when they are repeated.
    public private(set) var safe = SendSet()
    /// The ambiguous sends: they may have reached their devices.
    public private(set) var ambiguous = SendSet()
    /// The sends that came too late. They can succeed with a new expiry.
    public private(set) var expired = SendSet()
    /// The sends that were stopped on purpose, by whoever cancelled the request.
    public private(set) var cancelled = SendSet()
    /// The sends for which no device was registered.
    public private(set) var untargeted = SendSet()
    /// The sends that no change could help.
    public private(set) var pointless = SendSet()
    /// The sends of `safe` whose cause must be repaired first, by that cause.
    public private(set) var repairs: [(code: ErrorCode, sends: SendSet)] = []
    /// It is not known which of several sends failed: the result was asked to tell no details, or tells not all.
    public private(set) var isUnspecific = false
    /// The request was sent in parts, and this is the result of the whole.
    public let hasParts: Bool

    /// The sends of which it says that they did not reach their devices, or may not have.
    public var failed: SendSet {
        [safe, ambiguous, expired, cancelled, untargeted, pointless].reduce(SendSet()) { $0.union($1) }
    }

    /// Reads a result. Nil for what is no final or outcome result of a request whose place is known.
    public init?(_ document: JSONDocument) {
        let root = document.root
        guard let kind = document.text("kind", of: root), kind == "final" || kind == "outcome",
            let id = document.text("request_id", of: root), let original = Original(of: root, in: document)
        else { return nil }
        self.original = original
        requestID = id
        isOutcome = kind == "outcome"
        hasParts = document.member("parts", of: root) != nil
        let sends = document.member("sends", of: root)
        let listed = sends.map { document.childCount(of: $0) } ?? 0
        let planned = document.member("targets", of: root).flatMap { document.integer("planned", of: $0) }
        plannedCount = planned.flatMap(Int.init(exactly:)) ?? listed
        let whole = document.text("outcome", of: root).flatMap(Outcome.init(rawValue:))
        let error = document.member("error", of: root)
        let code = error.flatMap { document.text("code", of: $0) }.flatMap(ErrorCode.init(rawValue:))
        if isOutcome {
            readOutcome(sends, in: document, outcome: whole, code: code)
        } else if plannedCount == 0 {
            add(.all, outcome: whole, code: code, saying: error.flatMap { Self.safety(ofFaultsOf: $0, in: document) })
        } else if let sends, listed == plannedCount {
            readSends(sends, in: document)
        } else if plannedCount == 1 {
            add(SendSet([0]), outcome: whole, code: code)
        } else {
            isUnspecific = whole != .success
        }
    }

    private mutating func readSends(_ sends: JSONDocument.Node, in document: JSONDocument) {
        var position = 0
        document.forEachElement(of: sends) { send in
            let index = document.integer("index", of: send)
            if index != Int64(position) || position >= SendSet.capacity { isUnspecific = true }
            platforms.append(document.text("platform", of: send).flatMap(Platform.init(name:)))
            guard let word = document.text("outcome", of: send) else {
                isUnspecific = true
                return
            }
            let code = document.text("error_code", of: send).flatMap(ErrorCode.init(rawValue:))
            add(SendSet([position]), outcome: Outcome(rawValue: word), code: code)
            position += 1
        }
    }

    /// Files the one send that an outcome result tells of. Its own word for a replay counts: where some devices were reached, the class
    /// of what became of the others says less.
    private mutating func readOutcome(
        _ sends: JSONDocument.Node?, in document: JSONDocument, outcome: Outcome?, code: ErrorCode?
    ) {
        guard let sends, let send = document.firstChild(of: sends), document.childCount(of: sends) == 1,
            let index = document.integer("index", of: send),
            (0..<Int64(min(max(plannedCount, 1), SendSet.capacity))).contains(index)
        else {
            isUnspecific = true
            return
        }
        let word = document.text("replay_safety", of: document.root).flatMap(ReplaySafety.init(rawValue:))
        add(SendSet([Int(index)]), outcome: outcome, code: code, saying: word ?? .ambiguous)
    }

    /// The safety of a replay of a rejected request, or nil where it lists no faults. One fault that nothing mends is enough.
    private static func safety(ofFaultsOf error: JSONDocument.Node, in document: JSONDocument) -> ReplaySafety? {
        var codes: [ErrorCode?] = []
        guard let faults = document.member("faults", of: error) else { return nil }
        document.forEachElement(of: faults) { fault in
            codes.append(document.text("code", of: fault).flatMap(ErrorCode.init(rawValue:)))
        }
        guard !codes.isEmpty else { return nil }
        return codes.contains(nil) ? .pointless : ReplaySafety(ofFaults: codes.compactMap(\.self))
    }

    /// Files sends under what became of them, and what a replay can do where more is known than class and reason say. What a
    /// later version calls by a new word may have reached a device.
    private mutating func add(_ sends: SendSet, outcome: Outcome?, code: ErrorCode?, saying said: ReplaySafety? = nil) {
        let safety = said ?? outcome.map { ReplaySafety(of: $0, code: code) } ?? .ambiguous
        switch (safety, outcome) {
        case (.duplicateRisk, _): delivered = delivered.union(sends)
        case (_, .expired): expired = expired.union(sends)
        case (_, .noTarget): untargeted = untargeted.union(sends)
        case (.safe, .cancelled) where code != .workerShutdown: cancelled = cancelled.union(sends)
        case (.safe, _):
            safe = safe.union(sends)
            if let code, code.repair != nil { repairs.append((code, sends)) }
        case (.ambiguous, _): ambiguous = ambiguous.union(sends)
        case (.pointless, _): pointless = pointless.union(sends)
        }
    }
}

/// The platforms of a list of calls, in order, as one number.
public struct PlatformSequence: Sendable, Hashable {
    private var hash = FNV1a()

    /// No calls.
    public init() {}

    /// The list that `text` stands for.
    public init?(_ text: String) {
        guard let state = UInt64(text, radix: 16) else { return nil }
        hash = FNV1a(after: state)
    }

    /// The number in hexadecimal digits.
    public var text: String { String(hash.value, radix: 16) }

    /// Adds a call. Nil stands for a template's, which is for all platforms.
    public mutating func append(_ platform: Platform?) {
        hash.add(platform.map { $0.rawValue + 1 } ?? 0xFF)
    }
}
