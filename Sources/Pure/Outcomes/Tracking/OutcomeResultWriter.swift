import Basics
public import PushModel

/// Writes `outcome` results as JSON (page Results): one for each call that was followed.
///
/// `sends` has that one call, with the counts of all push services in `pns_outcomes`; `devices` has them by platform, which for a
/// template's call can be several.
public struct OutcomeResultWriter: Sendable {
    /// The content that the result's headers have to repeat.
    public struct Written: Sendable {
        /// The place in the bytes of the result's id.
        public let resultID: Range<Int>
        /// The place in the bytes of the moment at which the outcome was known.
        public let finishedAt: Range<Int>
    }

    private let worker: ByteWriter
    private var text = TimestampText()

    /// A writer for the results of one worker.
    ///
    /// - Parameters:
    ///   - workerID: The worker's stable name.
    ///   - version: The program's version.
    public init(workerID: String, version: String) {
        worker = ResultWriter.worker(workerID, version: version)
    }

    /// Appends the `outcome` result of `call`. Its id is the same for the same call, however often it is written.
    public mutating func append(
        _ outcome: CallOutcome, of call: borrowing TrackedCall, at now: Timestamp, to json: inout ByteWriter
    ) -> Written {
        json.append("{\"schema_version\":1,\"result_id\":\"")
        let idStart = json.count
        json.append(jsonContent: call.resultID)
        let resultID = idStart..<json.count
        json.append("\",")
        json.append(call.headMembers)
        appendConclusion(outcome, to: &json)
        json.append(",\"attempt_count\":", decimal: call.attemptCount)
        appendSend(outcome, of: call, to: &json)
        json.append(",\"targets\":{\"planned\":", decimal: call.plannedCount)
        json.append("},\"timings\":{\"published_at\":", moment: call.publishedAt, by: &text)
        json.append(",\"finished_at\":", moment: now, by: &text)
        json.append(",\"total_ms\":", decimal: max(0, now.milliseconds(since: call.publishedAt)))
        json.append("},")
        json.append(call.tailMembers)
        json.append(worker)
        json.append(",\"at\":\"")
        let momentStart = json.count
        json.append(now, by: &text)
        let finishedAt = momentStart..<json.count
        json.append("\"}")
        return Written(resultID: resultID, finishedAt: finishedAt)
    }

    private func appendConclusion(_ outcome: CallOutcome, to json: inout ByteWriter) {
        json.append(",\"kind\":\"outcome\",\"state\":", word: outcome.state.rawValue)
        json.append(",\"outcome\":", word: outcome.outcome.rawValue)
        json.append(",\"hub_state\":", word: outcome.telemetry?.state?.word)
        json.append(",\"replay_safety\":", word: outcome.replaySafety.rawValue)
        guard let code = outcome.code else { return }
        json.append(",\"error\":{\"code\":", word: code.rawValue)
        json.append(",\"message\":", json: code.explanation.cause)
        json.append(outcome.replaySafety == .safe ? ",\"retryable\":true}" : ",\"retryable\":false}")
    }

    private func appendSend(_ outcome: CallOutcome, of call: borrowing TrackedCall, to json: inout ByteWriter) {
        json.append(",\"sends\":[{\"index\":", decimal: call.index)
        json.append(",\"platform\":", json: call.platform)
        json.append(",\"outcome\":", word: outcome.outcome.rawValue)
        if !call.notificationID.isEmpty {
            json.append(",\"notification_id\":", json: call.notificationID)
        }
        json.append(",\"error_code\":", word: outcome.code?.rawValue)
        guard let counts = outcome.telemetry?.counts, !counts.isEmpty else {
            json.append("}]")
            return
        }
        let names = OutcomeSums(counts).names
        json.append(",\"pns_outcomes\":")
        Self.append(names, to: &json)
        json.append("}]")
        if counts.allSatisfy({ $0.platform == counts[0].platform }) {
            json.append(",\"devices\":{", json: counts[0].platform)
            json.append(":")
            Self.append(names, to: &json)
            json.append("}")
        } else {
            Self.appendDevices(counts, to: &json)
        }
    }

    private static func appendDevices(_ counts: [NotificationTelemetry.Count], to json: inout ByteWriter) {
        var separator: StaticString = ",\"devices\":{"
        var platforms: [String] = []
        for count in counts where !platforms.contains(count.platform) {
            platforms.append(count.platform)
            json.append(separator, json: count.platform)
            json.append(":")
            append(OutcomeSums(counts.filter { $0.platform == count.platform }).names, to: &json)
            separator = ","
        }
        json.append("}")
    }

    private static func append(_ names: [(word: String, count: Int)], to json: inout ByteWriter) {
        for (index, name) in names.enumerated() {
            json.append(index == 0 ? "{" : ",", json: name.word)
            json.append(":", decimal: name.count)
        }
        json.append("}")
    }
}

/// Counts of devices by outcome name, each name once.
private struct OutcomeSums {
    private(set) var names: [(word: String, count: Int)] = []

    /// The sum over `counts`. A sum beyond 64 bits stays at their end.
    init(_ counts: [NotificationTelemetry.Count]) {
        for entry in counts {
            let word = entry.outcome.word
            if let index = names.firstIndex(where: { $0.word == word }) {
                names[index].count = names[index].count.addingSaturated(entry.count)
            } else {
                names.append((word, entry.count))
            }
        }
    }
}
