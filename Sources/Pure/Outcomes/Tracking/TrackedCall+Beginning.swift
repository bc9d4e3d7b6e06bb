public import PushModel

extension TrackedCall {
    /// Appends a call that the hub has accepted just now: the text of its first record.
    ///
    /// - Parameters:
    ///   - index: The call.
    ///   - report: What happened to its request's calls.
    ///   - request: The request.
    ///   - origin: Where the request was published.
    ///   - hub: The name of the hub that has accepted it.
    ///   - now: The present moment.
    ///   - json: Gets the text.
    public static func append(
        _ index: Int, of report: borrowing DeliveryReport, for request: borrowing PushRequest, origin: RecordOrigin, hub: String,
        at now: Timestamp, to json: inout ByteWriter
    ) {
        let call = report.calls[index]
        json.append("{\"v\":1,\"polls\":0,\"call\":{\"id\":\"outcome.")
        json.append(hexadecimal: RecordOrigin.hash(of: origin.topic))
        json.append(".")
        origin.appendNumbers(to: &json)
        json.append(".")
        json.append(decimal: index)
        json.append("\",\"index\":")
        json.append(decimal: index)
        json.append(",\"platform\":\"")
        json.append(call.platform?.name ?? "template")
        json.append("\",\"planned\":")
        json.append(decimal: report.calls.count)
        json.append(",\"attempts\":")
        json.append(decimal: call.attemptCount)
        json.append(",\"published\":")
        json.append(decimal: origin.timestamp.milliseconds)
        json.append(",\"accepted\":")
        json.append(decimal: now.milliseconds)
        if let id = call.notificationID {
            json.append(",\"notification\":")
            json.append(json: report.span(id))
        }
        if let trace = request.traceParent {
            json.append(",\"trace\":")
            json.append(json: request.document.span(trace))
        }
        appendHead(request, hub: hub, to: &json)
        appendTail(request, origin: origin, to: &json)
        json.append("}}")
    }

    private static func appendHead(_ request: borrowing PushRequest, hub: String, to json: inout ByteWriter) {
        json.append(",\"head\":{\"request_id\":")
        json.append(json: request.document.span(request.id))
        if let source = request.source {
            json.append(",\"source\":")
            json.append(json: request.document.span(source))
        }
        if let tenant = request.tenant {
            json.append(",\"tenant\":")
            json.append(json: request.document.span(tenant))
        }
        json.append(",\"hub\":")
        json.append(json: hub)
        json.append("}")
    }

    private static func appendTail(_ request: borrowing PushRequest, origin: RecordOrigin, to json: inout ByteWriter) {
        json.append(",\"tail\":{\"origin\":{\"topic\":")
        json.append(json: origin.topic)
        json.append(",\"partition\":")
        json.append(decimal: Int64(origin.partition))
        json.append(",\"offset\":\"")
        json.append(decimal: origin.offset)
        json.append("\"}")
        if let replay = request.replay {
            json.append(",\"replay\":")
            json.append(request.document.span(request.document.text(of: replay)))
        }
        if let labels = request.labels {
            json.append(",\"labels\":")
            json.append(request.document.span(request.document.text(of: labels)))
        }
        json.append("}")
    }
}
