/// The record of a large request in the topic of parents: how many parts it has, and what its one result needs.
public struct ParentRecord: Sendable {
    /// The most parts of a request.
    public static let maximumChunks = 10_000_000

    let document: JSONDocument
    /// The number of parts.
    public let chunks: Int
    /// The calls of all parts.
    public let calls: Int
    /// The place of the request that was published, or nil for one that came as a file, for which this record stands.
    public let origin: RecordOrigin?

    /// Reads a record's value. Nil for one that this version did not write.
    public init?(_ value: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(value) } catch { return nil }
        let root = document.root
        guard document.integer("schema_version", of: root) == 1, document.text("id", of: root) != nil,
            let chunks = document.integer("chunks", of: root), (1...Int64(Self.maximumChunks)).contains(chunks),
            let calls = document.integer("calls", of: root), calls >= 0
        else { return nil }
        self.chunks = Int(chunks)
        self.calls = Int(calls)
        origin = document.member("origin", of: root).flatMap { Self.origin($0, in: document) }
        self.document = document
    }

    private static func origin(_ node: JSONDocument.Node, in document: borrowing JSONDocument) -> RecordOrigin? {
        guard let topic = document.text("topic", of: node),
            let partition = document.integer("partition", of: node).flatMap({ Int32(exactly: $0) }),
            let offset = document.text("offset", of: node).flatMap({ Int64($0) }),
            let time = document.integer("timestamp_ms", of: node)
        else { return nil }
        return RecordOrigin(topic: topic, partition: partition, offset: offset, timestamp: Timestamp(milliseconds: time))
    }

    /// The request's id.
    public var id: String { document.text("id", of: document.root) ?? "" }

    /// The hub that the request names, if it names one.
    public var hub: String? { document.text("hub", of: document.root) }

    /// The tenant that it names, if it names one.
    public var tenant: String? { document.text("tenant", of: document.root) }

    /// The moment of taking the record that was expanded, or nil for a file.
    var consumedAt: Timestamp? { document.integer("consumed_ms", of: document.root).map { Timestamp(milliseconds: $0) } }

    /// The trace that the result carries on, if there is one.
    public var traceParent: String? { document.text("traceparent", of: document.root) }

    /// Appends the value of the record of `request`.
    ///
    /// - Parameters:
    ///   - request: The request as a whole.
    ///   - chunks: How many parts it has.
    ///   - calls: The calls of all parts.
    ///   - origin: Where it stands, and when it was taken; nil for a file.
    ///   - json: Gets the object.
    public static func append(
        _ request: borrowing PushRequest, chunks: Int, calls: Int, origin: (place: RecordOrigin, consumedAt: Timestamp)?,
        to json: inout ByteWriter
    ) {
        json.append("{\"schema_version\":1,\"id\":", json: request.document.span(request.id))
        json.append(",\"chunks\":", decimal: chunks)
        json.append(",\"calls\":", decimal: calls)
        if let origin {
            json.append(",\"origin\":{\"topic\":", json: origin.place.topic)
            json.append(",\"partition\":", decimal: Int64(origin.place.partition))
            json.append(",\"offset\":\"")
            json.append(decimal: origin.place.offset)
            json.append("\",\"timestamp_ms\":", decimal: origin.place.timestamp.milliseconds)
            json.append("},\"consumed_ms\":", decimal: origin.consumedAt.milliseconds)
        }
        json.append(",\"source\":", text: request.source, in: request.document)
        json.append(",\"tenant\":", text: request.tenant, in: request.document)
        json.append(",\"hub\":", text: request.hub, in: request.document)
        json.append(",\"traceparent\":", text: request.traceParent, in: request.document)
        json.append(",\"replay\":", verbatim: request.replay, in: request.document)
        json.append(",\"labels\":", verbatim: request.labels, in: request.document)
        json.append("}")
    }
}
