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
        json.append("\",\"index\":", decimal: index)
        json.append(",\"platform\":", word: call.platform?.name ?? "template")
        json.append(",\"planned\":", decimal: report.calls.count)
        json.append(",\"attempts\":", decimal: call.attemptCount)
        json.append(",\"published\":", decimal: origin.timestamp.milliseconds)
        json.append(",\"accepted\":", decimal: now.milliseconds)
        if let id = call.notificationID {
            json.append(",\"notification\":", json: report.span(id))
        }
        json.append(",\"trace\":", text: request.traceParent, in: request.document)
        appendHead(request, hub: hub, to: &json)
        appendTail(request, origin: origin, to: &json)
        json.append("}}")
    }

    private static func appendHead(_ request: borrowing PushRequest, hub: String, to json: inout ByteWriter) {
        json.append(",\"head\":{\"request_id\":", json: request.document.span(request.id))
        json.append(",\"source\":", text: request.source, in: request.document)
        json.append(",\"tenant\":", text: request.tenant, in: request.document)
        json.append(",\"hub\":", json: hub)
        json.append("}")
    }

    private static func appendTail(_ request: borrowing PushRequest, origin: RecordOrigin, to json: inout ByteWriter) {
        json.append(",\"tail\":{\"origin\":{\"topic\":", json: origin.topic)
        json.append(",\"partition\":", decimal: Int64(origin.partition))
        json.append(",\"offset\":\"")
        json.append(decimal: origin.offset)
        json.append("\"}")
        json.append(",\"replay\":", verbatim: request.replay, in: request.document)
        json.append(",\"labels\":", verbatim: request.labels, in: request.document)
        json.append("}")
    }
}
