/// Reads records of the requests topic, byte for byte, naming every fault (page Requests, "Fields").
public struct RequestReader: Sendable {
    /// The treatment of fields outside the contract.
    public enum Strictness: Sendable {
        /// Counted and ignored, so that a newer publisher does not break an older worker.
        case tolerant
        /// Faults, because at the time of writing a typo is a bug.
        case strict
    }

    /// The kinds of topics that a record comes from, by who may write to them.
    public enum Topic: Sendable {
        /// Anybody who publishes. What only pushfan may say of a request, that it is a replay or a part of another one, is a fault there.
        case open
        /// Pushfan alone.
        case own
    }

    /// The kinds of a record.
    public enum Reading: Sendable, Equatable {
        /// A valid request.
        case request
        /// A request with faults. Its identity, source, hub and labels were read as far as they could be.
        case rejected([RequestFault])
        /// Nothing that can be understood.
        case unreadable(UnreadableRecord)
    }

    /// The largest record that is read, in bytes (512 KiB).
    public static let maximumRecordByteCount = 512 << 10

    let strictness: Strictness
    let topic: Topic

    /// A reader for records from Kafka (`tolerant`) or from a person's hand (`strict`).
    public init(_ strictness: Strictness = .tolerant, from topic: Topic = .open) {
        self.strictness = strictness
        self.topic = topic
    }

    /// Reads one record in place of what `request` held.
    ///
    /// - Parameters:
    ///   - value: The record's value; empty for a tombstone.
    ///   - headers: What `RecordHeaders` kept of the record's headers.
    ///   - origin: Where the record stands; names the request when nothing else does.
    ///   - request: Is overwritten; after `unreadable` only its identity is of use.
    /// - Returns: What the record is; a rejected one with its first faults, at most 32.
    public func read(
        _ value: Span<UInt8>, headers: borrowing RecordHeaders, origin: RecordOrigin, into request: inout PushRequest
    ) -> Reading {
        request.removeAll()
        guard value.count <= Self.maximumRecordByteCount else {
            identify(&request, attributes: Attributes(headers), origin: origin)
            let message = "The record has \(value.count) bytes; \(Self.maximumRecordByteCount) are allowed."
            return .rejected([RequestFault(.recordTooLarge, at: "", message: message)])
        }
        if let failure = Self.readDocument(value, into: &request.document) {
            identify(&request, attributes: Attributes(headers), origin: origin)
            return .unreadable(failure)
        }
        return readRequest(Attributes(headers, of: request.document), origin: origin, into: &request)
    }

    /// The object that holds the fields of a request that was read: the record itself, or what a CloudEvent in structured mode carries.
    ///
    /// - Parameters:
    ///   - document: The record as it was read.
    ///   - headers: What `RecordHeaders` kept of its headers.
    /// - Returns: The object; nil when nothing was read.
    public func body(of document: borrowing JSONDocument, headers: borrowing RecordHeaders) -> JSONDocument.Node? {
        guard let envelope = Attributes(headers, of: document).envelope else { return document.root }
        return document.member("data", of: envelope)
    }

    /// Reads the text. After a failure nothing is left of it.
    private static func readDocument(_ value: Span<UInt8>, into document: inout JSONDocument) -> UnreadableRecord? {
        guard !value.isEmpty else { return .noValue }
        do { try document.read(value, replacingHalfPairs: true) } catch { return .notJSON(error) }
        guard document.kind(of: document.root) != .object else { return nil }
        document.removeAll()
        return .notAnObject
    }

    /// Reads the request out of a record that is a JSON object.
    private func readRequest(_ attributes: borrowing Attributes, origin: RecordOrigin, into request: inout PushRequest)
        -> Reading
    {
        var fields = FieldReader(strictness, base: attributes.envelope == nil ? "" : "/data")
        let textFaults = FieldReader.textFaults(of: request.document)
        if let body = body(attributes, in: request.document, using: &fields) {
            Self.removeNulls(of: body, from: &request.document)
            let present = readFields(of: body, into: &request, using: &fields)
            checkWhole(request, present: present, using: &fields)
        }
        fields.note(textFaults)
        identify(&request, attributes: attributes, origin: origin)
        readAttributes(attributes, origin: origin, into: &request, using: &fields)
        request.unknownFieldCount = fields.unknownFieldCount
        return fields.faultCount == 0 ? .request : .rejected(fields.faults)
    }

    /// The object that holds the request: the record itself, or the `data` of a structured-mode CloudEvent.
    private func body(
        _ attributes: borrowing Attributes, in document: borrowing JSONDocument, using fields: inout FieldReader
    ) -> JSONDocument.Node? {
        guard let envelope = attributes.envelope else { return document.root }
        if let data = document.member("data", of: envelope), document.kind(of: data) == .object { return data }
        fields.fault(pointer: "", message: "A structured-mode CloudEvent holds the request as an object in data.")
        return nil
    }

    /// Settles the request's identity: body, then CloudEvents attribute, then the record's place.
    private func identify(_ request: inout PushRequest, attributes: borrowing Attributes, origin: RecordOrigin) {
        request.hasOwnID = true
        guard request.id.isEmpty else { return }
        if let id = attributes.text(.ceID, byteCount: RequestLimits.identifier, in: &request.document),
            CharacterClass.identifier.matches(request.document.span(id))
        {
            request.id = id
            return
        }
        request.hasOwnID = false
        let place = Array("\(origin.topic):\(origin.partition):\(origin.offset)".utf8.suffix(128))
        request.id = request.document.add(place.span)
    }

    /// Takes in what the headers or the envelope say beside the body. Of two expiry times the earlier wins.
    private func readAttributes(
        _ attributes: borrowing Attributes, origin: RecordOrigin, into request: inout PushRequest, using fields: inout FieldReader
    ) {
        if request.source == nil {
            request.source = attributes.text(.ceSource, byteCount: RequestLimits.source, in: &request.document)
        }
        if request.orderingKey == nil {
            request.orderingKey = attributes.text(.cePartitionKey, byteCount: RequestLimits.orderingKey, in: &request.document)
        }
        if request.createdAt == nil, let time = attributes.text(.ceTime, byteCount: 1...64, in: &request.document) {
            request.createdAt = Timestamp(request.document.span(time))
        }
        if let life = request.timeToLive { request.expiresAt = (request.createdAt ?? origin.timestamp).adding(seconds: life) }
        if let expiry = attributes.text(.ceExpiryTime, in: &request.document) {
            if let moment = Timestamp(request.document.span(expiry)) {
                request.expiresAt = min(request.expiresAt ?? moment, moment)
            } else {
                fields.fault(pointer: "", message: "The event's expirytime must be a date and time such as 2026-11-21T17:00:00Z.")
            }
        }
        readTrace(attributes, into: &request)
    }

    /// Takes the trace context of the record's own hop, else that of the journey's start. One that is malformed is none.
    private func readTrace(_ attributes: borrowing Attributes, into request: inout PushRequest) {
        if readTrace(.traceParent, state: .traceState, from: attributes, into: &request) { return }
        _ = readTrace(.ceTraceParent, state: .ceTraceState, from: attributes, into: &request)
    }

    private func readTrace(
        _ parent: RecordHeaders.Name, state: RecordHeaders.Name, from attributes: borrowing Attributes,
        into request: inout PushRequest
    ) -> Bool {
        guard let text = attributes.text(parent, in: &request.document), TraceParent.isValid(request.document.span(text)) else {
            return false
        }
        request.traceParent = text
        if !TraceParent.isOfVersion00(request.document.span(text)) {
            request.traceParent = request.document.add(TraceParent.lowered(request.document.span(text)).span)
        }
        request.traceState = attributes.text(state, byteCount: 1...512, in: &request.document)
        return true
    }

    /// The rules that concern several fields.
    private func checkWhole(_ request: borrowing PushRequest, present: PresentFields, using fields: inout FieldReader) {
        if !present.contains(.audience) {
            fields.fault(pointer: "/audience", message: Self.missingAudience)
        }
        if present.isDisjoint(with: [.message, .payloads, .template]) {
            fields.fault(pointer: "", message: "One of message, payloads and template must be there.")
        }
        if request.template != nil && (request.message != nil || request.payloads != nil) {
            fields.fault(pointer: "/template", message: "A template cannot be sent together with message or payloads.")
        }
        if present.isSuperset(of: [.timeToLive, .expiresAt]) {
            fields.fault(pointer: "/ttl_seconds", message: "Only one of ttl_seconds and expires_at may be there.")
        }
        // What a content at fault would have covered is not known.
        let isComplete = request.payloads != nil || !present.contains(.payloads)
        if isComplete && (request.message != nil || request.payloads != nil) { checkPlatforms(request, using: &fields) }
    }

    /// Checks that every platform that the request names has content. Of one with payloads alone, each needs its own.
    private func checkPlatforms(_ request: borrowing PushRequest, using fields: inout FieldReader) {
        for platform in Platform.allCases where request.platforms.contains(platform) {
            if request.payloads != nil && request.payload(for: platform) != nil { continue }
            if request.message == nil {
                fields.fault(
                    pointer: "/platforms", message: "There is no content for \(platform.name): give payloads.\(platform.name).")
            } else if !platform.formatsMessages {
                fields.fault(
                    pointer: "/platforms",
                    message: "A message cannot be formatted for \(platform.name): give payloads.\(platform.name).")
            }
        }
    }
}
