extension ResultWriter {
    /// The most calls that a result has one by one (the result schema's limit). Their whole number is in `targets`.
    static let maximumSends = 200

    func appendSends(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        guard !report.calls.isEmpty else { return }
        json.append(",\"sends\":[")
        for index in report.calls.indices.prefix(Self.maximumSends) {
            let call = report.calls[index]
            json.append(index == 0 ? "{\"index\":" : ",{\"index\":")
            json.append(decimal: index)
            json.append(",\"platform\":\"")
            json.append(call.platform?.name ?? "template")
            json.append("\",\"outcome\":\"")
            json.append((call.outcome ?? .cancelled).rawValue)
            json.append("\"")
            json.append(",\"notification_id\":", text: call.notificationID, in: report)
            json.append(",\"tracking_id\":", text: call.trackingID, in: report)
            if call.httpStatus > 0 {
                json.append(",\"http_status\":")
                json.append(decimal: call.httpStatus)
            }
            if let code = call.code {
                json.append(",\"error_code\":\"")
                json.append(code.rawValue)
                json.append("\"")
            }
            json.append(",\"payload_bytes\":")
            json.append(decimal: call.payloadByteCount)
            json.append("}")
        }
        json.append("]")
    }

    mutating func appendAttempts(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        guard !report.attempts.isEmpty else { return }
        json.append(",\"attempts\":[")
        for index in report.attempts.indices {
            let attempt = report.attempts[index]
            json.append(index == 0 ? "{\"n\":" : ",{\"n\":")
            json.append(decimal: attempt.number)
            json.append(",\"send\":")
            json.append(decimal: attempt.call)
            json.append(",\"started_at\":\"")
            json.append(attempt.startedAt, by: &own)
            json.append("\",\"duration_ms\":")
            json.append(wait: attempt.duration)
            json.append(",\"result\":\"")
            json.append(attempt.result.rawValue)
            json.append("\"")
            if attempt.httpStatus > 0 {
                json.append(",\"http_status\":")
                json.append(decimal: attempt.httpStatus)
            }
            if let code = attempt.code {
                json.append(",\"error_code\":\"")
                json.append(code.rawValue)
                json.append("\"")
            }
            if let backoff = attempt.backoff {
                json.append(",\"backoff_ms\":")
                json.append(wait: backoff)
            }
            json.append(attempt.bytesSent ? ",\"bytes_sent\":true}" : ",\"bytes_sent\":false}")
        }
        json.append("]")
    }

    func appendTargets(_ report: borrowing DeliveryReport, to json: inout ByteWriter) {
        let accepted = report.calls.count { $0.outcome == .success }
        let ambiguous = report.calls.count { $0.outcome == .ambiguous }
        json.append(",\"targets\":{\"planned\":")
        json.append(decimal: report.calls.count)
        json.append(",\"accepted\":")
        json.append(decimal: accepted)
        json.append(",\"failed\":")
        json.append(decimal: report.calls.count - accepted - ambiguous)
        json.append(",\"ambiguous\":")
        json.append(decimal: ambiguous)
        json.append("}")
    }

    mutating func appendTimings(
        _ report: borrowing DeliveryReport, origin: RecordOrigin, now: Timestamp, to json: inout ByteWriter
    ) {
        json.append(",\"timings\":{\"published_at\":\"")
        json.append(origin.timestamp, by: &published)
        json.append("\",\"consumed_at\":\"")
        json.append(report.consumedAt, by: &own)
        if let first = report.firstAttemptAt {
            json.append("\",\"first_attempt_at\":\"")
            json.append(first, by: &own)
        }
        json.append("\",\"finished_at\":\"")
        json.append(now, by: &own)
        json.append("\",\"queue_ms\":")
        json.append(wait: report.consumedAt.milliseconds(since: origin.timestamp))
        json.append(",\"throttle_wait_ms\":")
        json.append(wait: report.throttleWait)
        json.append(",\"hub_ms\":")
        json.append(wait: report.hubTime)
        json.append(",\"total_ms\":")
        json.append(wait: now.milliseconds(since: origin.timestamp))
        json.append("}")
    }
}

extension ByteWriter {
    /// Appends `key`, which brings its comma and colon, with a text of the report, if there is one.
    @inline(__always) fileprivate mutating func append(
        _ key: StaticString, text: DeliveryReport.Text?, in report: borrowing DeliveryReport
    ) {
        guard let text else { return }
        append(key)
        append(json: report.span(text))
    }

    /// Appends a number of milliseconds. Clocks of publisher, broker and worker differ, but a wait is never shown as negative.
    mutating func append(wait milliseconds: Int64) { append(decimal: max(0, milliseconds)) }
}
