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
        json.append("\",\"request_id\":")
        json.append(json: parent.id)
        for name: StaticString in ["source", "tenant"] {
            if let node = document.member(name, of: document.root) { json.append(name, node: node, of: document) }
        }
        json.append(hub)
        append(conclusion, totals: totals, to: &json)
        json.append(",\"attempt_count\":", number: totals.attempts)
        append(totals, to: &json)
        json.append(",\"targets\":{\"planned\":", number: parent.calls)
        json.append(",\"accepted\":", number: totals.acceptedCalls)
        // The record says how many calls there are, and the parts what came of them; they need not agree.
        let others = max(0, totals.acceptedCalls.addingSaturated(totals.ambiguousCalls))
        json.append(",\"failed\":", number: max(0, parent.calls - others))
        json.append(",\"ambiguous\":", number: totals.ambiguousCalls)
        json.append("}")
        var report = DeliveryReport()
        report.consumedAt = parent.consumedAt ?? origin.timestamp
        report.firstAttemptAt = totals.firstAttemptAt
        report.throttleWait = totals.throttleWait
        report.hubTime = totals.hubTime
        appendTimings(report, origin: origin, now: now, to: &json)
        append(origin, to: &json)
        for name: StaticString in ["replay", "labels"] {
            if let node = document.member(name, of: document.root) { json.append(name, node: node, of: document) }
        }
        json.append(worker)
        json.append(",\"at\":\"")
        let start = json.count
        json.append(now, by: &own)
        let finishedAt = start..<json.count
        json.append("\"}")
        return Written(conclusion: conclusion, resultID: resultID, finishedAt: finishedAt)
    }

    private func append(_ conclusion: Conclusion, totals: PartTotals, to json: inout ByteWriter) {
        json.append(",\"kind\":\"final\",\"state\":\"")
        json.append(conclusion.state.rawValue)
        json.append("\",\"outcome\":\"")
        json.append(conclusion.outcome.rawValue)
        if totals.acceptedCalls > 0 { json.append("\",\"hub_state\":\"Enqueued") }
        json.append("\",\"replay_safety\":\"")
        json.append(totals.safety.rawValue)
        json.append("\"")
        guard let code = conclusion.code else { return }
        json.append(",\"error\":{\"code\":\"")
        json.append(code.rawValue)
        json.append("\",\"message\":")
        json.append(json: "\(totals.count - totals.sent) of \(totals.count) parts were not sent everywhere; each has a result.")
        json.append(totals.safety == .safe ? ",\"retryable\":true}" : ",\"retryable\":false}")
    }

    private func append(_ totals: PartTotals, to json: inout ByteWriter) {
        json.append(",\"parts\":{\"count\":", number: totals.count)
        json.append(",\"sent\":", number: totals.sent)
        json.append(",\"partial\":", number: totals.partial)
        json.append(",\"failed\":", number: totals.failed)
        json.append(",\"ambiguous\":", number: totals.ambiguous)
        json.append(",\"expired\":", number: totals.expired)
        json.append(",\"cancelled\":", number: totals.cancelled)
        if !totals.notSent.isEmpty {
            json.append(",\"not_sent\":[")
            for (index, chunk) in totals.notSent.sorted().enumerated() {
                if index > 0 { json.append(",") }
                json.append(decimal: chunk)
            }
            json.append("]")
        }
        json.append("}")
    }
}

extension ByteWriter {
    /// Appends a member of an object as it was read.
    fileprivate mutating func append(_ name: StaticString, node: JSONDocument.Node, of document: borrowing JSONDocument) {
        append(",\"")
        append(name)
        append("\":")
        let text = document.span(document.text(of: node))
        if document.kind(of: node) == .string { append(json: text) } else { append(text) }
    }
}
