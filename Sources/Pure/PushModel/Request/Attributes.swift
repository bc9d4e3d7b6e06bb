/// The content of a record about the request beside the request itself: its headers and, of a CloudEvent in structured mode
/// (CloudEvents Kafka binding, section 3.3), the members of the event, which win.
struct Attributes: ~Copyable {
    private let headers: RecordHeaders
    /// The event whose `data` is the request, or nil when the record is the request.
    let envelope: JSONDocument.Node?
    /// True if there are neither headers nor an event, as with most records.
    private let hasNothing: Bool

    /// The headers alone.
    init(_ headers: borrowing RecordHeaders) {
        self.headers = copy headers
        envelope = nil
        hasNothing = headers.isEmpty
    }

    /// The headers, and the event that `document` is if the content type says so.
    init(_ headers: borrowing RecordHeaders, of document: borrowing JSONDocument) {
        self.headers = copy headers
        if let type = headers.value(.contentType), Self.isStructuredEvent(type) {
            envelope = document.root
        } else {
            envelope = nil
        }
        hasNothing = headers.isEmpty
    }

    /// The attribute `name` as a text of `document`, or nil when there is none of that many bytes.
    func text(
        _ name: RecordHeaders.Name, byteCount: ClosedRange<Int> = 1...RecordHeaders.maximumValueByteCount,
        in document: inout JSONDocument
    ) -> JSONDocument.Text? {
        if hasNothing { return nil }
        if let envelope, let member = name.eventMember, let value = document.value(member, of: envelope) {
            let text = document.text(of: value)
            return document.kind(of: value) == .string && byteCount.contains(text.count) ? text : nil
        }
        guard let value = headers.value(name), byteCount.contains(value.count) else { return nil }
        return document.add(value)
    }

    /// True if a media type, whatever its parameters, is `application/cloudevents+json`.
    private static func isStructuredEvent(_ contentType: Span<UInt8>) -> Bool {
        guard contentType.count >= structured.count else { return false }
        for index in structured.indices {
            let byte = contentType[index]
            let lower = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
            if lower != structured[index] { return false }
        }
        guard contentType.count > structured.count else { return true }
        let following = contentType[structured.count]
        return following == UInt8(ascii: ";") || following == UInt8(ascii: " ")
    }

    private static let structured = Array("application/cloudevents+json".utf8)
}

extension RecordHeaders.Name {
    /// The member of a structured-mode event that holds the same.
    fileprivate var eventMember: StaticString? {
        switch self {
        case .ceID: "id"
        case .ceSource: "source"
        case .ceTime: "time"
        case .ceExpiryTime: "expirytime"
        case .cePartitionKey: "partitionkey"
        case .ceTraceParent: "traceparent"
        case .ceTraceState: "tracestate"
        case .contentType, .traceParent, .traceState: nil
        }
    }
}
