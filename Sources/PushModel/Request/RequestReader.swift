/// Reads records of the requests topic: the contract's section 3.5, byte for byte, naming every fault.
public struct RequestReader: Sendable {
    /// How fields outside the contract are treated.
    public enum Strictness: Sendable {
        /// Counted and ignored, so that a newer publisher does not break an older worker.
        case tolerant
        /// Faults, because at the time of writing a typo is a bug.
        case strict
    }

    /// What a record is.
    public enum Reading: Sendable, Equatable {
        /// A valid request.
        case request
        /// A request with faults; its identity, source, hub and labels were read as far as they could be.
        case rejected([RequestFault])
        /// Nothing that can be understood.
        case unreadable(UnreadableRecord)
    }

    /// The largest record that is read, in bytes (512 KiB).
    public static let maximumRecordByteCount = 512 << 10

    let strictness: Strictness

    /// A reader for records from Kafka (`tolerant`) or from a person's hand (`strict`).
    public init(_ strictness: Strictness = .tolerant) {
        self.strictness = strictness
    }

    /// Reads one record in place of what `request` held.
    ///
    /// - Parameters:
    ///   - value: The record's value; empty for a tombstone.
    ///   - headers: What `RecordHeaders` kept of the record's headers.
    ///   - origin: Where the record stands; names the request when nothing else does.
    ///   - request: Is overwritten; after `unreadable` only its identity is of use.
    public func read(
        _ value: Span<UInt8>, headers: borrowing RecordHeaders, origin: RecordOrigin, into request: inout PushRequest
    ) -> Reading {
        let document = Self.emptied(&request.document)
        request = PushRequest()
        request.document = document
        var fields = FieldReader()
        guard value.count <= Self.maximumRecordByteCount else {
            identify(&request, headers: headers, origin: origin)
            let message = "The record has \(value.count) bytes; \(Self.maximumRecordByteCount) are allowed."
            return .rejected([RequestFault(.recordTooLarge, "", message)])
        }
        var failure: UnreadableRecord? = value.isEmpty ? .noValue : nil
        if failure == nil {
            do { try request.document.read(value) } catch { failure = .notJSON(error) }
        }
        guard failure == nil, let body = Self.body(of: request.document, headers) else {
            _ = Self.emptied(&request.document)
            identify(&request, headers: headers, origin: origin)
            return .unreadable(failure ?? .notAnObject)
        }
        readFields(of: body, into: &request, &fields)
        for key in request.document.duplicateKeys {
            fields.fault(at: key, in: request.document, "This name stands twice in one object.")
        }
        identify(&request, headers: headers, origin: origin)
        readHeaders(headers, origin: origin, into: &request)
        checkWhole(request, body, &fields)
        return fields.faults.isEmpty ? .request : .rejected(fields.faults)
    }

    /// Takes the document out, so that its room is kept while everything else of the request starts anew.
    private static func emptied(_ document: inout JSONDocument) -> JSONDocument {
        var taken = JSONDocument()
        swap(&taken, &document)
        taken.removeAll()
        return taken
    }

    /// The object that holds the request: the record itself, or the `data` of a structured-mode CloudEvent.
    private static func body(of document: borrowing JSONDocument, _ headers: borrowing RecordHeaders) -> JSONDocument.Node? {
        var node = document.root
        if let type = headers.value(.contentType), isStructuredCloudEvent(type), let data = document.member("data", of: node) {
            node = data
        }
        return document.kind(of: node) == .object ? node : nil
    }

    private static func isStructuredCloudEvent(_ contentType: Span<UInt8>) -> Bool {
        let expected = Array("application/cloudevents+json".utf8)
        guard contentType.count >= expected.count else { return false }
        for index in expected.indices where contentType[index] | 0x20 != expected[index] | 0x20 { return false }
        return true
    }

    /// Settles the request's identity: body, then header, then the record's place.
    private func identify(_ request: inout PushRequest, headers: borrowing RecordHeaders, origin: RecordOrigin) {
        guard request.id.isEmpty else { return }
        if let id = headers.value(.ceID), !id.isEmpty, id.count <= 128, CharacterClass.identifier.matches(id) {
            request.id = request.document.add(id)
            return
        }
        let place = Array("\(origin.topic):\(origin.partition):\(origin.offset)".utf8.suffix(128))
        request.id = request.document.add(place.span)
    }

    /// Takes in what the headers say beside the body; of two expiry times the earlier wins.
    private func readHeaders(_ headers: borrowing RecordHeaders, origin: RecordOrigin, into request: inout PushRequest) {
        if request.source == nil, let source = headers.value(.ceSource), (1...256).contains(source.count) {
            request.source = request.document.add(source)
        }
        if request.orderingKey == nil, let key = headers.value(.cePartitionKey), (1...256).contains(key.count) {
            request.orderingKey = request.document.add(key)
        }
        if request.createdAt == nil, let time = headers.value(.ceTime) { request.createdAt = Timestamp(time) }
        if let life = request.timeToLive {
            let start = request.createdAt ?? origin.timestamp
            request.expiresAt = Timestamp(milliseconds: start.milliseconds + life * 1000)
        }
        if let text = headers.value(.ceExpiryTime), let moment = Timestamp(text) {
            request.expiresAt = min(request.expiresAt ?? moment, moment)
        }
        if let parent = headers.value(.traceParent, or: .ceTraceParent), TraceParent.isValid(parent) {
            request.traceParent = request.document.add(parent)
            if let state = headers.value(.traceState, or: .ceTraceState), state.count <= 512 {
                request.traceState = request.document.add(state)
            }
        }
    }

    /// The rules that concern several fields.
    private func checkWhole(_ request: borrowing PushRequest, _ body: JSONDocument.Node, _ fields: inout FieldReader) {
        let document = request.document
        if document.member("audience", of: body) == nil {
            fields.fault(pointer: "/audience", "An audience must be named; to reach every device, say {\"broadcast\": true}.")
        }
        let hasContent = ["message", "payloads", "template"].contains { (name: StaticString) in
            document.member(name, of: body) != nil
        }
        if !hasContent { fields.fault(pointer: "", "One of message, payloads and template must be there.") }
        if request.template != nil && (request.message != nil || request.payloads != nil) {
            fields.fault(pointer: "/template", "A template cannot be sent together with message or payloads.")
        }
        if document.member("ttl_seconds", of: body) != nil && document.member("expires_at", of: body) != nil {
            fields.fault(pointer: "/ttl_seconds", "Only one of ttl_seconds and expires_at may be there.")
        }
        checkPlatforms(request, &fields)
    }

    private func checkPlatforms(_ request: borrowing PushRequest, _ fields: inout FieldReader) {
        guard request.template == nil else { return }
        for platform in Platform.allCases where request.platforms.contains(platform) {
            if request.payloads != nil && request.payload(for: platform) != nil { continue }
            if request.message == nil {
                fields.fault(pointer: "/platforms", "There is no content for \(platform.name): give payloads.\(platform.name).")
            } else if !platform.formatsMessages {
                fields.fault(
                    pointer: "/platforms",
                    "A message cannot be formatted for \(platform.name): give payloads.\(platform.name).")
            }
        }
    }
}

/// W3C Trace Context, level 1: `00-<32 hex>-<16 hex>-<2 hex>`, small letters, neither id all zeros.
enum TraceParent {
    static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count == 55 else { return false }
        for index in text.indices {
            let byte = text[index]
            if index == 2 || index == 35 || index == 52 {
                if byte != UInt8(ascii: "-") { return false }
                continue
            }
            let isDigit = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
            guard isDigit || (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f")) else { return false }
        }
        return !isZero(text, 3..<35) && !isZero(text, 36..<52)
    }

    private static func isZero(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
        for index in range where text[index] != UInt8(ascii: "0") { return false }
        return true
    }
}
