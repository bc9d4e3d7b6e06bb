extension ResultWriter {
    /// Appends the one `final` result of a request that was sent in parts.
    ///
    /// - Parameters:
    ///   - parent: What is known of it.
    ///   - totals: What its parts came to, each counted once.
    ///   - hub: The member that names its hub, or the spread whose hubs its parts went to.
    ///   - origin: Where it stands.
    ///   - now: The present moment.
    ///   - json: Gets the result.
    /// - Returns: What the headers have to repeat.
    public mutating func append(
        _ parent: borrowing ParentRecord, totals: PartTotals, hub: borrowing ByteWriter, origin: RecordOrigin,
        at now: Timestamp,
        to json: inout ByteWriter
    ) -> Written {
        let document = parent.document
        let conclusion = totals.conclusion
        let resultID = appendBeginning(origin, to: &json)
        json.append("\",\"request_id\":", json: parent.id)
        json.append(member: "source", of: document.root, in: document)
        json.append(member: "tenant", of: document.root, in: document)
        json.append(hub)
        append(conclusion, totals: totals, to: &json)
        json.append(",\"attempt_count\":", decimal: totals.attempts)
        append(totals, to: &json)
        json.append(",\"targets\":{\"planned\":", decimal: parent.calls)
        json.append(",\"accepted\":", decimal: totals.acceptedCalls)
        // The record says how many calls there are, and the parts what came of them; they need not agree.
        let others = max(0, totals.acceptedCalls.addingSaturated(totals.ambiguousCalls))
        json.append(",\"failed\":", decimal: max(0, parent.calls - others))
        json.append(",\"ambiguous\":", decimal: totals.ambiguousCalls)
        json.append("}")
        var report = DeliveryReport()
        report.consumedAt = parent.consumedAt ?? origin.timestamp
        report.firstAttemptAt = totals.firstAttemptAt
        report.throttleWait = totals.throttleWait
        report.hubTime = totals.hubTime
        appendTimings(report, origin: origin, now: now, to: &json)
        append(origin, to: &json)
        json.append(member: "replay", of: document.root, in: document)
        json.append(member: "labels", of: document.root, in: document)
        json.append(worker)
        json.append(",\"at\":\"")
        let start = json.count
        json.append(now, by: &own)
        let finishedAt = start..<json.count
        json.append("\"}")
        return Written(conclusion: conclusion, resultID: resultID, finishedAt: finishedAt)
    }

    private func append(_ conclusion: Conclusion, totals: PartTotals, to json: inout ByteWriter) {
        json.append(",\"kind\":\"final\",\"state\":", word: conclusion.state.rawValue)
        json.append(",\"outcome\":", word: conclusion.outcome.rawValue)
        if totals.acceptedCalls > 0 { json.append(",\"hub_state\":\"Enqueued\"") }
        json.append(",\"replay_safety\":", word: totals.safety.rawValue)
        guard let code = conclusion.code else { return }
        json.append(",\"error\":{\"code\":", word: code.rawValue)
        json.append(",\"message\":")
        json.append(json: "\(totals.count - totals.sent) of \(totals.count) parts were not sent everywhere; each has a result.")
        json.append(totals.safety == .safe ? ",\"retryable\":true}" : ",\"retryable\":false}")
    }

    private func append(_ totals: PartTotals, to json: inout ByteWriter) {
        json.append(",\"parts\":{\"count\":", decimal: totals.count)
        json.append(",\"sent\":", decimal: totals.sent)
        json.append(",\"partial\":", decimal: totals.partial)
        json.append(",\"failed\":", decimal: totals.failed)
        json.append(",\"ambiguous\":", decimal: totals.ambiguous)
        json.append(",\"expired\":", decimal: totals.expired)
        json.append(",\"cancelled\":", decimal: totals.cancelled)
        if !totals.notSent.isEmpty {
            json.append(",\"not_sent\":[")
            json.append(list: totals.notSent.sorted()) { $0.append(decimal: $1) }
            json.append("]")
        }
        json.append("}")
    }
}
