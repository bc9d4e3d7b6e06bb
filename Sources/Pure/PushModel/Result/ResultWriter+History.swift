extension ResultWriter {
    /// The most calls that a result has one by one (the result schema's limit). Their whole number is in `targets`.
    static let maximumSends = 200

    func appendSends(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        guard !report.calls.isEmpty else { return }
        json.append(",\"sends\":[")
        for index in report.calls.indices.prefix(Self.maximumSends) {
            let call = report.calls[index]
            json.append(index == 0 ? "{\"index\":" : ",{\"index\":", decimal: index)
            json.append(",\"platform\":", word: call.platform?.name ?? "template")
            json.append(",\"outcome\":", word: (call.outcome ?? .cancelled).rawValue)
            json.append(",\"notification_id\":", text: call.notificationID, in: report)
            json.append(",\"tracking_id\":", text: call.trackingID, in: report)
            if call.httpStatus > 0 { json.append(",\"http_status\":", decimal: call.httpStatus) }
            json.append(",\"error_code\":", word: call.code?.rawValue)
            json.append(",\"payload_bytes\":", decimal: call.payloadByteCount)
            json.append("}")
        }
        json.append("]")
    }

    mutating func appendAttempts(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        guard !report.attempts.isEmpty else { return }
        json.append(",\"attempts\":[")
        for index in report.attempts.indices {
            let attempt = report.attempts[index]
            json.append(index == 0 ? "{\"n\":" : ",{\"n\":", decimal: attempt.number)
            json.append(",\"send\":", decimal: attempt.call)
            json.append(",\"started_at\":", moment: attempt.startedAt, by: &own)
            json.append(",\"duration_ms\":", wait: attempt.duration)
            json.append(",\"result\":", word: attempt.result.rawValue)
            if attempt.httpStatus > 0 { json.append(",\"http_status\":", decimal: attempt.httpStatus) }
            json.append(",\"error_code\":", word: attempt.code?.rawValue)
            json.append(",\"backoff_ms\":", wait: attempt.backoff)
            json.append(attempt.bytesSent ? ",\"bytes_sent\":true}" : ",\"bytes_sent\":false}")
        }
        json.append("]")
    }

    func appendTargets(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        let accepted = report.calls.count { $0.outcome == .success }
        let ambiguous = report.calls.count { $0.outcome == .ambiguous }
        json.append(",\"targets\":{\"planned\":", decimal: report.calls.count)
        json.append(",\"accepted\":", decimal: accepted)
        json.append(",\"failed\":", decimal: report.calls.count - accepted - ambiguous)
        json.append(",\"ambiguous\":", decimal: ambiguous)
        json.append("}")
    }

    mutating func appendTimings(
        _ report: borrowing DeliveryReport, origin: RecordOrigin, now: Timestamp, to json: inout ByteWriter
    ) {
        json.append(",\"timings\":{\"published_at\":", moment: origin.timestamp, by: &published)
        json.append(",\"consumed_at\":", moment: report.consumedAt, by: &own)
        json.append(",\"first_attempt_at\":", moment: report.firstAttemptAt, by: &own)
        json.append(",\"finished_at\":", moment: now, by: &own)
        json.append(",\"queue_ms\":", wait: report.consumedAt.milliseconds(since: origin.timestamp))
        json.append(",\"throttle_wait_ms\":", wait: report.throttleWait)
        json.append(",\"hub_ms\":", wait: report.hubTime)
        json.append(",\"total_ms\":", wait: now.milliseconds(since: origin.timestamp))
        json.append("}")
    }
}

extension ByteWriter {
    /// Appends a key with a text of the report, if there is one.
    @inline(__always) fileprivate mutating func append(
        _ key: StaticString, text: DeliveryReport.Text?, in report: borrowing DeliveryReport
    ) {
        guard let text else { return }
        append(key, json: report.span(text))
    }
}
