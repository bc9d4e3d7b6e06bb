/// The history of a request that waits in a delay lane, as the text of one header. The request goes on where it was.
///
/// The text is a JSON object with short names, so that a person can read it as well; times are milliseconds since 1970, waits
/// milliseconds. Its `v` is the version of this form.
public struct DeliveryHistory: Sendable {
    /// The knowledge of a call beside what its report says.
    public struct CallState: Sendable, Equatable {
        /// True if an attempt ended without telling if the hub took it.
        public var mayHaveArrived: Bool
        /// The moment from which its next attempt may be made, or nil when it has its outcome.
        public var due: Timestamp?

        /// A call that waits until `due`, or has its outcome.
        public init(mayHaveArrived: Bool = false, due: Timestamp? = nil) {
            self.mayHaveArrived = mayHaveArrived
            self.due = due
        }
    }

    /// The digest of the plan whose calls these are.
    public var plan: UInt64
    /// The state of each call, in the plan's order.
    public var calls: [CallState]

    /// The state of the calls of a plan.
    public init(plan: UInt64, calls: [CallState]) {
        self.plan = plan
        self.calls = calls
    }

    /// Appends the history as text.
    ///
    /// - Parameters:
    ///   - report: What happened to the calls so far; as many calls as the history has.
    ///   - json: Gets the text.
    public func append(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        json.append("{\"v\":1,\"plan\":\"")
        json.append(hexadecimal: plan)
        json.append("\",\"consumed\":", decimal: report.consumedAt.milliseconds)
        if let first = report.firstAttemptAt { json.append(",\"first\":", decimal: first.milliseconds) }
        json.append(",\"throttled\":", decimal: report.throttleWait)
        json.append(",\"hub\":", decimal: report.hubTime)
        json.append(",\"calls\":[")
        for index in report.calls.indices { append(report, call: index, to: &json) }
        json.append("],\"attempts\":[")
        for index in report.attempts.indices { Self.append(report.attempts[index], isFirst: index == 0, to: &json) }
        json.append("]}")
    }

    private func append(_ report: borrowing DeliveryReport, call index: Int, to json: inout ByteWriter) {
        let call = report.calls[index]
        json.append(index == 0 ? "{\"attempts\":" : ",{\"attempts\":", decimal: call.attemptCount)
        if let platform = call.platform { json.append(",\"platform\":", word: platform.name) }
        if let due = calls[index].due { json.append(",\"due\":", decimal: due.milliseconds) }
        if calls[index].mayHaveArrived { json.append(",\"arrived\":true") }
        if let outcome = call.outcome { json.append(",\"outcome\":", word: outcome.rawValue) }
        if let code = call.code { json.append(",\"code\":", word: code.rawValue) }
        if call.httpStatus != 0 { json.append(",\"status\":", decimal: call.httpStatus) }
        if let wait = call.retryAfter { json.append(",\"retry_after\":", decimal: wait) }
        if let text = call.notificationID { json.append(",\"notification\":", json: report.span(text)) }
        if let text = call.trackingID { json.append(",\"tracking\":", json: report.span(text)) }
        if let text = call.detail { json.append(",\"detail\":", json: report.span(text)) }
        json.append("}")
    }

    private static func append(_ attempt: DeliveryReport.Attempt, isFirst: Bool, to json: inout ByteWriter) {
        json.append(isFirst ? "{\"n\":" : ",{\"n\":", decimal: attempt.number)
        json.append(",\"call\":", decimal: attempt.call)
        json.append(",\"at\":", decimal: attempt.startedAt.milliseconds)
        json.append(",\"took\":", decimal: attempt.duration)
        json.append(",\"result\":", word: attempt.result.rawValue)
        if attempt.httpStatus != 0 { json.append(",\"status\":", decimal: attempt.httpStatus) }
        if let code = attempt.code { json.append(",\"code\":", word: code.rawValue) }
        if attempt.bytesSent { json.append(",\"sent\":true") }
        if let backoff = attempt.backoff { json.append(",\"backoff\":", decimal: backoff) }
        json.append("}")
    }
}
