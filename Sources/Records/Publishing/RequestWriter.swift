public import Kafka
public import PushModel

/// A request as the record that is written to Kafka.
public struct RequestRecord: Sendable {
    /// The request's id, its own or a new one.
    public let id: String
    /// The name of the topic that it belongs to.
    public let topic: String
    /// The record's key, or nil for none.
    public let key: String?
    /// The record's value: the request as JSON, with its id.
    public let value: [UInt8]
    /// The record's headers, in order.
    public let headers: [(name: String, value: String)]

    /// Hands the record to a producer, which writes it in the background.
    ///
    /// - Parameters:
    ///   - producer: Writes it.
    ///   - topic: The topic of that producer whose name is `topic`.
    ///   - moment: The record's timestamp, or nil for the present.
    ///   - report: Called once with the delivery of the record, unless this throws.
    /// - Throws: The record was not taken: it is too large, the queue is full, the producer is closed.
    public func write(
        with producer: Producer, to topic: Producer.Topic, at moment: Timestamp? = nil,
        report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        let time = moment?.milliseconds
        var list = HeaderList(capacity: headers.count)
        for (name, value) in headers { list.append(name, value: value) }
        if let key {
            let bytes = Array(key.utf8)
            try producer.produce(to: topic, key: bytes.span, value: value.span, headers: list, timestamp: time, report: report)
        } else {
            try producer.produce(to: topic, key: nil, value: value.span, headers: list, timestamp: time, report: report)
        }
    }
}

/// Makes records of requests, with the headers of a CloudEvent in binary mode (page Requests). What is an event already stays as it is.
public struct RequestWriter: Sendable {
    /// The `type` attribute of a request.
    public static let eventType = "push.request.v1"
    /// The media type of an event in structured mode (CloudEvents Kafka binding, section 3.3).
    public static let eventContentType = "application/cloudevents+json"

    /// The topics of requests.
    public let topics: RequestTopics
    /// The source of requests that name none.
    public let source: String
    private var identifiers = RequestIdentifier()
    private var generator = SystemRandomNumberGenerator()

    /// A writer of records.
    ///
    /// - Parameters:
    ///   - topics: The topics of requests.
    ///   - source: The source of requests that name none.
    public init(topics: RequestTopics, source: String) {
        self.topics = topics
        self.source = source
    }

    /// A new id, greater than those before, for a request that is to name its own.
    ///
    /// - Parameter moment: The present moment.
    /// - Returns: The id.
    public mutating func newID(at moment: Timestamp) -> String {
        identifiers.next(now: moment.milliseconds, using: &generator)
    }

    /// The record of a request, which gets a new id unless it has one, for the topic of its priority.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - moment: The present moment.
    /// - Returns: The record for Kafka.
    public mutating func record(of request: OutgoingRequest, at moment: Timestamp) -> RequestRecord {
        var time = ByteWriter()
        time.append(moment)
        let id = request.id ?? newID(at: moment)
        var headers = [
            ("content-type", "application/json"), ("ce_specversion", "1.0"), ("ce_id", id),
            ("ce_source", request.source ?? source), ("ce_type", Self.eventType), ("ce_time", time.text),
        ]
        if request.isEvent { headers = [("content-type", Self.eventContentType)] }
        headers.removeAll { header in request.headers.contains { $0.name == header.0 } }
        return RequestRecord(
            id: id, topic: topics.name(for: request.priority), key: request.recordKey, value: request.json(withID: id),
            headers: headers + request.headers)
    }
}
