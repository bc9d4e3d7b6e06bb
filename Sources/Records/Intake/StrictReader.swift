internal import Publishing
public import PushModel

/// Reads requests as strictly as a publisher wants it: everything the contract does not know is a fault.
///
/// A CloudEvent in structured mode is known by its `specversion`, which no request has, because a file has no header that announces it. One that a header announces is read as such.
public struct StrictReader: Sendable {
    /// The fault of an event whose id cannot be a request's.
    public static let missingEventID = RequestFault(
        .schemaInvalid, at: "/id",
        message: "An event needs an id of 1 to 128 letters, digits and . _ : -, by which its result is found.")

    private let reader = RequestReader(.strict)
    private let headers: PushModel.RecordHeaders
    /// The headers of a structured event.
    private let announcing: PushModel.RecordHeaders
    /// True if the headers announce a structured event.
    private let isAnnounced: Bool

    /// A reader of records with the given headers.
    ///
    /// - Parameter list: The headers. A content type of `application/cloudevents+json` announces an event.
    public init(headers list: [(name: String, value: String)] = []) {
        var headers = PushModel.RecordHeaders()
        for (name, value) in list { headers.add(name: name.utf8Span.span, value: value.utf8Span.span) }
        self.headers = headers
        isAnnounced = list.contains { $0.name == "content-type" && $0.value == RequestWriter.eventContentType }
        headers.add(name: "content-type".utf8Span.span, value: RequestWriter.eventContentType.utf8Span.span)
        announcing = headers
    }

    /// Reads one request in place of the earlier content of `request`.
    ///
    /// - Parameters:
    ///   - json: The record's value.
    ///   - now: The time at which it would be written.
    ///   - request: Is overwritten.
    /// - Returns: The request, and whether an event holds it. That a request has expired is among the faults of one that is rejected for
    ///   others.
    public func read(
        _ json: [UInt8], now: Timestamp, into request: inout PushRequest
    ) -> (what: RequestReader.Reading, isEvent: Bool) {
        let (what, isEvent) = readForm(json, now: now, into: &request)
        guard case .rejected(let faults) = what, json.count <= RequestReader.maximumRecordByteCount else {
            return (what, isEvent)
        }
        return (.rejected(faults + request.lateness(at: now)), isEvent)
    }

    private func readForm(
        _ json: [UInt8], now: Timestamp, into request: inout PushRequest
    ) -> (what: RequestReader.Reading, isEvent: Bool) {
        let origin = RecordOrigin(topic: "input", partition: 0, offset: 0, timestamp: now)
        let what = reader.read(json.span, headers: headers, origin: origin, into: &request)
        if isAnnounced { return (what, true) }
        guard case .rejected = what, json.count <= RequestReader.maximumRecordByteCount,
            request.document.value("specversion", of: request.document.root) != nil
        else { return (what, false) }
        return (reader.read(json.span, headers: announcing, origin: origin, into: &request), true)
    }
}
