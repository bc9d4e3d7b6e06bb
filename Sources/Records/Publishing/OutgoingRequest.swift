public import PushModel

/// A request that was checked and waits to be written.
public struct OutgoingRequest: Sendable {
    /// The request as JSON, complete but for an id that must be made.
    public var json: [UInt8]
    /// Its own id, or nil when it has none.
    public var id: String?
    /// Its own source.
    public var source: String?
    /// Requests with one key keep their order.
    public var orderingKey: String?
    /// Of requests with one key only the first is sent.
    public var dedupeKey: String?
    /// The priority, which chooses the topic.
    public var priority: PushRequest.Priority
    /// Headers of its own. One that the record has anyway, such as `ce_time`, gets this value.
    public var headers: [(name: String, value: String)] = []
    /// True if `json` is a CloudEvent in structured mode, whose data is the request. Such an event has an id.
    public var isEvent: Bool

    /// A request and the parts of its record.
    ///
    /// - Parameters:
    ///   - json: The request, with or without an id.
    ///   - id: The id that stands in it.
    ///   - source: The source that stands in it.
    ///   - orderingKey: The ordering key that stands in it.
    ///   - dedupeKey: The dedupe key that stands in it.
    ///   - priority: The priority that stands in it, or `normal`.
    ///   - isEvent: Whether it is a CloudEvent in structured mode.
    public init(
        json: [UInt8], id: String? = nil, source: String? = nil, orderingKey: String? = nil, dedupeKey: String? = nil,
        priority: PushRequest.Priority = .normal, isEvent: Bool = false
    ) {
        self.json = json
        self.id = id
        self.source = source
        self.orderingKey = orderingKey
        self.dedupeKey = dedupeKey
        self.priority = priority
        self.isEvent = isEvent
    }

    /// The record's key: what deduplication or an ordering key compares must be in one partition.
    public var recordKey: String? { orderingKey ?? dedupeKey ?? id }

    /// The JSON with `id` as its first member, unless it has one.
    ///
    /// - Parameter id: Letters that JSON needs no escapes for.
    /// - Returns: The bytes of the record.
    public func json(withID id: String) -> [UInt8] {
        guard self.id == nil, let brace = json.firstIndex(of: UInt8(ascii: "{")) else { return json }
        return Array(json[...brace]) + Array("\"id\":\"\(id)\",".utf8) + json[(brace + 1)...]
    }
}
