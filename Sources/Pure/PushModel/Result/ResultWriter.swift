import Basics

/// Writes final results as JSON (page Results).
///
/// It keeps what is the same in most results, as it was written last; so each loop has one of its own.
public struct ResultWriter: Sendable {
    /// The content that the result's headers have to repeat.
    public struct Written: Sendable {
        /// The end of the request.
        public let conclusion: Conclusion
        /// The place in the bytes of the result's id.
        public let resultID: Range<Int>
        /// The place in the bytes of the moment at which the request was finished.
        public let finishedAt: Range<Int>
    }

    /// The part that is the same in every result, as JSON.
    let worker: ByteWriter
    /// The part that is the same in every result of one topic.
    private var topic = TopicTexts(of: "")
    /// The text that the publishers' moments are written with, and that for the worker's own: those of a backlog lie in another
    /// second.
    var published = TimestampText()
    var own = TimestampText()

    /// A writer for the results of one worker.
    ///
    /// - Parameters:
    ///   - workerID: The worker's stable name; 128 characters of it are written.
    ///   - version: The program's version; 32 characters of it are written.
    public init(workerID: String, version: String) {
        worker = Self.worker(workerID, version: version)
    }

    /// The member that names the hub of a result, with the comma before it.
    public static func hub(_ name: String) -> ByteWriter {
        var member = ByteWriter()
        member.append(",\"hub\":", json: name)
        return member
    }

    /// The member that says which worker wrote a result, with the comma before it.
    public static func worker(_ id: String, version: String) -> ByteWriter {
        var worker = ByteWriter()
        worker.append(",\"worker\":{\"id\":", json: String(id.unicodeScalars.prefix(128)))
        worker.append(",\"version\":", json: String(version.unicodeScalars.prefix(32)))
        worker.append("}")
        return worker
    }

    /// Appends the `final` result of `request`.
    ///
    /// The result's id is the same for the same record, however often it is written: letters, digits and dots. `hub` is the member that
    /// names the hub, as `hub(_:)` makes it; empty where there is none.
    @discardableResult
    public mutating func append(
        _ report: borrowing DeliveryReport, of request: borrowing PushRequest, hub: borrowing ByteWriter, origin: RecordOrigin,
        at now: Timestamp, to json: inout ByteWriter
    ) -> Written {
        let conclusion = report.conclusion
        let resultID = appendBeginning(origin, to: &json)
        json.append("\",\"request_id\":", json: request.document.span(request.id))
        json.append(",\"source\":", text: request.source, in: request.document)
        json.append(",\"tenant\":", text: request.tenant, in: request.document)
        json.append(hub)
        appendConclusion(conclusion, report: report, to: &json)
        json.append(",\"attempt_count\":", decimal: report.attemptCount)
        if request.options.resultDetail != .none { appendSends(report, to: &json) }
        if request.options.resultDetail == .attempts { appendAttempts(report, to: &json) }
        appendTargets(report, to: &json)
        if report.isFollowed, report.calls.contains(where: { $0.outcome == .success }) { json.append(",\"followed\":true") }
        appendTimings(report, origin: origin, now: now, to: &json)
        append(origin, to: &json)
        json.append(",\"parent\":", verbatim: request.parent, in: request.document)
        json.append(",\"replay\":", verbatim: request.replay, in: request.document)
        json.append(",\"labels\":", verbatim: request.labels, in: request.document)
        json.append(worker)
        json.append(",\"at\":\"")
        let momentStart = json.count
        json.append(now, by: &own)
        let finishedAt = momentStart..<json.count
        json.append("\"}")
        return Written(conclusion: conclusion, resultID: resultID, finishedAt: finishedAt)
    }

    /// Appends what every result begins with. Returns where the result's id stands, whose quotation mark is still open.
    @inline(__always) mutating func appendBeginning(_ origin: RecordOrigin, to json: inout ByteWriter) -> Range<Int> {
        if topic.name != origin.topic { topic = TopicTexts(of: origin.topic) }
        json.append("{\"schema_version\":1,\"result_id\":\"")
        let start = json.count
        json.append(topic.resultID)
        origin.appendNumbers(to: &json)
        return start..<json.count
    }

    /// Appends where the request stands, whose topic `appendBeginning` was told.
    @inline(__always) func append(_ origin: RecordOrigin, to json: inout ByteWriter) {
        json.append(topic.origin)
        json.append(decimal: Int64(origin.partition))
        json.append(",\"offset\":\"")
        json.append(decimal: origin.offset)
        json.append("\"}")
    }

    private func appendConclusion(_ conclusion: Conclusion, report: borrowing DeliveryReport, to json: inout ByteWriter) {
        if conclusion.state == .sent {
            // Nearly all results, and all of these say the same; in one piece that is 1 % less for a request as a whole.
            json.append(
                """
                ,"kind":"final","state":"sent","outcome":"success","hub_state":"Enqueued","replay_safety":"duplicate_risk"
                """)
            return
        }
        json.append(",\"kind\":\"final\",\"state\":", word: conclusion.state.rawValue)
        json.append(",\"outcome\":", word: conclusion.outcome.rawValue)
        if report.calls.contains(where: { $0.outcome == .success }) { json.append(",\"hub_state\":\"Enqueued\"") }
        json.append(",\"replay_safety\":", word: ReplaySafety(of: conclusion, report: report).rawValue)
        appendError(conclusion, report: report, to: &json)
    }

    private func appendError(_ conclusion: Conclusion, report: borrowing DeliveryReport, to json: inout ByteWriter) {
        guard let code = conclusion.code else { return }
        json.append(",\"error\":{\"code\":", word: code.rawValue)
        json.append(",\"message\":")
        if !report.faults.isEmpty {
            json.append(json: Self.message(of: report.faults))
        } else if let index = conclusion.call, let detail = report.calls[index].detail {
            json.append(json: report.span(detail))
        } else {
            json.append(json: code.explanation.cause)
        }
        json.append(",\"retryable\":")
        let safety =
            report.faults.isEmpty
            ? ReplaySafety(of: conclusion.outcome, code: code) : ReplaySafety(ofFaults: report.faults.lazy.map(\.code))
        json.append(safety == .safe ? "true" : "false")
        if let index = conclusion.call {
            let call = report.calls[index]
            if call.httpStatus > 0 { json.append(",\"http_status\":", decimal: call.httpStatus) }
            json.append(",\"retry_after_ms\":", wait: call.retryAfter)
        }
        appendFaults(report.faults, to: &json)
        json.append("}")
    }

    private static func message(of faults: [RequestFault]) -> String {
        var message = ""
        for fault in faults {
            let sentence = fault.pointer.isEmpty ? fault.message : "\(fault.pointer): \(fault.message)"
            if message.unicodeScalars.count + sentence.unicodeScalars.count + 1 > 500 {
                if message.isEmpty { message = String(sentence.unicodeScalars.prefix(500)) }
                break
            }
            message += message.isEmpty ? sentence : " " + sentence
        }
        return message
    }

    private func appendFaults(_ faults: [RequestFault], to json: inout ByteWriter) {
        guard !faults.isEmpty else { return }
        json.append(",\"faults\":[")
        json.append(list: faults) { json, fault in
            json.append("{\"code\":", word: fault.code.rawValue)
            json.append(",\"pointer\":", json: fault.pointer)
            json.append(",\"message\":", json: fault.message)
            json.append("}")
        }
        json.append("]")
    }
}

/// The texts that the results of one topic's requests have in common.
private struct TopicTexts {
    let name: String
    /// The beginning of their ids.
    private(set) var resultID = ByteWriter()
    /// The beginning of their `origin`.
    private(set) var origin = ByteWriter()

    init(of topic: String) {
        name = topic
        resultID.append("final.")
        resultID.append(hexadecimal: RecordOrigin.hash(of: topic))
        resultID.append(".")
        origin.append(",\"origin\":{\"topic\":", json: topic)
        origin.append(",\"partition\":")
    }
}
