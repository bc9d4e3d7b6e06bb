extension DeliveryHistory {
    /// A history that cannot be read: another program wrote it, or another version did.
    public struct Malformed: Error, Sendable, Equatable {
        /// There is nothing more to say.
        public init() {}
    }

    /// The most calls that a history is believed to have. One that is expanded when it is due has none yet.
    public static let maximumCalls = 1024

    /// Reads a history and puts what it tells into `report`, whose platforms and sizes are the plan's to say.
    ///
    /// - Parameters:
    ///   - text: What `append` wrote.
    ///   - report: Gets the calls and attempts in place of what it held.
    /// - Throws: `Malformed`; the report is of no use then.
    public init(_ text: Span<UInt8>, into report: inout DeliveryReport) throws(Malformed) {
        var document = JSONDocument()
        do { try document.read(text) } catch { throw Malformed() }
        let root = document.root
        guard document.kind(of: root) == .object, document.integer("v", of: root) == 1,
            let plan = document.text("plan", of: root).flatMap({ UInt64($0, radix: 16) }),
            let consumed = document.integer("consumed", of: root),
            let throttled = document.integer("throttled", of: root, within: 0 ... .max / 2),
            let hub = document.integer("hub", of: root, within: 0 ... .max / 2),
            let calls = document.member("calls", of: root), document.kind(of: calls) == .array,
            (0...Self.maximumCalls).contains(document.childCount(of: calls)),
            let attempts = document.member("attempts", of: root), document.kind(of: attempts) == .array,
            document.childCount(of: attempts) <= (document.childCount(of: calls) > 0 ? DeliveryReport.maximumAttempts : 0)
        else { throw Malformed() }
        self.init(plan: plan, calls: [])
        report.removeAll()
        report.consumedAt = Timestamp(milliseconds: consumed)
        report.firstAttemptAt = document.integer("first", of: root).map { Timestamp(milliseconds: $0) }
        report.throttleWait = throttled
        try document.forEachElement(of: calls) { (call) throws(Malformed) in try readCall(call, in: document, into: &report) }
        try document.forEachElement(of: attempts) { (attempt) throws(Malformed) in
            try Self.readAttempt(attempt, in: document, into: &report)
        }
        report.hubTime = hub
        // With nothing left to be done it would not wait.
        guard self.calls.isEmpty || self.calls.contains(where: { $0.due != nil }) else { throw Malformed() }
    }

    private mutating func readCall(
        _ node: JSONDocument.Node, in document: borrowing JSONDocument, into report: inout DeliveryReport
    ) throws(Malformed) {
        guard document.kind(of: node) == .object, let attempts = document.integer("attempts", of: node, within: 0...1000)
        else {
            throw Malformed()
        }
        var call = DeliveryReport.Call(platform: Self.platform(of: node, in: document))
        call.attemptCount = Int(attempts)
        call.outcome = try Self.word("outcome", of: node, in: document, from: Self.outcomes)
        call.code = try Self.word("code", of: node, in: document, from: Self.codes)
        call.httpStatus = Int(document.integer("status", of: node, within: 0...999) ?? 0)
        call.retryAfter = document.integer("retry_after", of: node, within: 0 ... .max / 2)
        call.notificationID = Self.text("notification", of: node, in: document, into: &report)
        call.trackingID = Self.text("tracking", of: node, in: document, into: &report)
        call.detail = Self.text("detail", of: node, in: document, into: &report)
        let due = document.integer("due", of: node)
        // A call has its outcome, or waits.
        guard (due == nil) == (call.outcome != nil) else { throw Malformed() }
        calls.append(
            CallState(
                mayHaveArrived: document.isTrue("arrived", of: node), due: due.map { Timestamp(milliseconds: $0) }))
        report.calls.append(call)
    }

    private static func readAttempt(
        _ node: JSONDocument.Node, in document: borrowing JSONDocument, into report: inout DeliveryReport
    ) throws(Malformed) {
        guard document.kind(of: node) == .object, let number = document.integer("n", of: node, within: 1...1000),
            let call = document.integer("call", of: node, within: 0...Int64(report.calls.count - 1)),
            let start = document.integer("at", of: node),
            let duration = document.integer("took", of: node, within: 0 ... .max / 1024),
            let result = try word("result", of: node, in: document, from: results)
        else { throw Malformed() }
        var attempt = DeliveryReport.Attempt(number: Int(number), call: Int(call), startedAt: Timestamp(milliseconds: start))
        attempt.duration = duration
        attempt.result = result
        attempt.httpStatus = Int(document.integer("status", of: node, within: 0...999) ?? 0)
        attempt.code = try word("code", of: node, in: document, from: codes)
        attempt.bytesSent = document.isTrue("sent", of: node)
        attempt.backoff = document.integer("backoff", of: node, within: 0 ... .max / 2)
        // Adding it counts it, which was done already.
        let count = report.calls[attempt.call].attemptCount
        report.add(attempt)
        report.calls[attempt.call].attemptCount = count
    }

    private static let outcomes = NameTable<Outcome>()
    private static let codes = NameTable<ErrorCode>()
    private static let results = NameTable<DeliveryReport.AttemptResult>()

    private static func platform(of node: JSONDocument.Node, in document: borrowing JSONDocument) -> Platform? {
        guard let member = document.member("platform", of: node) else { return nil }
        return Platform(document.span(document.text(of: member)))
    }

    /// The word's meaning, or nil when the name is not there. An unknown word is a fault.
    private static func word<Value>(
        _ name: StaticString, of node: JSONDocument.Node, in document: borrowing JSONDocument, from table: NameTable<Value>
    ) throws(Malformed) -> Value? {
        guard let member = document.member(name, of: node) else { return nil }
        guard document.kind(of: member) == .string, let value = table.value(of: document.text(of: member), in: document) else {
            throw Malformed()
        }
        return value
    }

    private static func text(
        _ name: StaticString, of node: JSONDocument.Node, in document: borrowing JSONDocument, into report: inout DeliveryReport
    ) -> DeliveryReport.Text? {
        guard let member = document.member(name, of: node), document.kind(of: member) == .string else { return nil }
        return report.keep(document.span(document.text(of: member)))
    }
}
