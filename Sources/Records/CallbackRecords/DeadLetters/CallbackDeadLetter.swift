import Basics
public import Kafka
public import PushModel

/// A result that a receiver did not take in time: a record of the topic of dead letters, whose key is the receiver's name.
public struct CallbackDeadLetter: Sendable, Equatable {
    /// The most bytes of a result that a dead letter holds. Of a larger one it has the place alone.
    public static let largestResult = 900_000
    /// The most characters of a reason that are kept.
    public static let maximumReasonLength = 500

    /// The receiver's name.
    public var receiver: String
    /// The reason of it, in words or as a word.
    public var reason: String
    /// The number of attempts.
    public var attempts: Int
    /// The moment of the first attempt, in milliseconds since 1970.
    public var firstAt: Int64
    /// The moment of the last attempt, in milliseconds since 1970.
    public var lastAt: Int64
    /// The status of the last answer, or nil without one.
    public var status: Int?
    /// The id of the result, which is the id of each attempt.
    public var resultID: String
    /// The partition in which the result stands.
    public var partition: TopicPartition
    /// Its offset there.
    public var offset: Int64
    /// The result on one line, or nil for one that is too large.
    public var result: [UInt8]?

    /// A dead letter of these parts. A longer reason is cut.
    public init(
        receiver: String, reason: String, attempts: Int, firstAt: Int64, lastAt: Int64, status: Int?, resultID: String,
        partition: TopicPartition, offset: Int64, result: [UInt8]?
    ) {
        (self.receiver, self.attempts, self.firstAt, self.lastAt, self.status) = (receiver, attempts, firstAt, lastAt, status)
        self.reason = String(reason.prefix(Self.maximumReasonLength))
        (self.resultID, self.partition, self.offset) = (resultID, partition, offset)
        self.result = result.flatMap { $0.count <= Self.largestResult ? $0 : nil }
    }

    /// The key of its record.
    public var key: [UInt8] { Array(receiver.utf8) }

    /// The value of its record.
    ///
    /// - Parameter moment: The moment of writing.
    /// - Returns: A JSON object.
    public func json(at moment: Timestamp) -> [UInt8] {
        var json = ByteWriter(capacity: 512 + (result?.count ?? 0))
        json.append("{\"schema_version\":1,\"receiver\":", json: receiver)
        json.append(",\"at\":", moment: moment)
        json.append(",\"reason\":", json: reason)
        json.append(",\"attempts\":", decimal: attempts)
        json.append(",\"first_at\":", moment: Timestamp(milliseconds: firstAt))
        json.append(",\"last_at\":", moment: Timestamp(milliseconds: lastAt))
        json.append(",\"status\":", decimal: status.map { Int64($0) })
        json.append(",\"result_id\":", json: resultID)
        json.append(",\"place\":{\"topic\":", json: partition.topic)
        json.append(",\"partition\":", decimal: Int64(partition.partition))
        json.append(",\"offset\":\"")
        json.append(decimal: offset)
        json.append("\"}")
        if let result {
            json.append(",\"result\":")
            json.append(result.span)
        }
        json.append("}")
        return json.bytes
    }

    /// Reads a record's value, or returns nil for one that is none.
    public init?(json: Span<UInt8>) {
        var document = JSONDocument()
        do { try document.read(json) } catch { return nil }
        let root = document.root
        guard let receiver = document.text("receiver", of: root), let place = document.member("place", of: root),
            let topic = document.text("topic", of: place),
            let partition = document.integer("partition", of: place, within: 0...Int64(Int32.max)),
            let offset = document.text("offset", of: place).flatMap({ Int64($0) }), (0..<Int64.max).contains(offset)
        else { return nil }
        func moment(_ name: StaticString) -> Int64 { document.moment(name, of: root)?.milliseconds ?? 0 }
        let result = document.member("result", of: root).flatMap { node -> [UInt8]? in
            guard document.kind(of: node) == .object else { return nil }
            var line = ByteWriter()
            line.append(verbatim: node, in: document)
            return line.bytes
        }
        self.init(
            receiver: receiver, reason: document.text("reason", of: root) ?? "",
            attempts: Int(document.integer("attempts", of: root, within: 0...Int64(Int32.max)) ?? 0), firstAt: moment("first_at"),
            lastAt: moment("last_at"), status: document.integer("status", of: root, within: 0...999).map { Int($0) },
            resultID: document.text("result_id", of: root) ?? "",
            partition: TopicPartition(topic: topic, partition: Int32(partition)), offset: offset, result: result)
    }
}

extension CallbackDeadLetter {
    /// Hands the record to a producer, which writes it in the background.
    ///
    /// - Parameters:
    ///   - producer: Writes it.
    ///   - topic: The topic of dead letters.
    ///   - moment: The moment of writing.
    ///   - report: Called once with the delivery of the record, unless this throws.
    /// - Throws: The record was not taken: the queue is full, the producer is closed.
    public func write(
        with producer: Producer, to topic: Producer.Topic, at moment: Timestamp,
        report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        let (key, value) = (key, json(at: moment))
        try producer.produce(to: topic, key: key.span, value: value.span, timestamp: moment.milliseconds, report: report)
    }
}
