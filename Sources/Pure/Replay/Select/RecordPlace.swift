import Basics
public import PushModel

/// The place of a request's record in Kafka.
///
/// It is no name: a topic that was made again has other records at its places. See `Original`.
public struct RecordPlace: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// The partition.
    public var partition: Int32
    /// The offset in the partition.
    public var offset: Int64

    /// A place.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// Reads `topic:partition:offset`. A topic's name holds no colon.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, let partition = Int32(parts[1]), let offset = Int64(parts[2]),
            partition >= 0, offset >= 0
        else { return nil }
        self.init(topic: String(parts[0]), partition: partition, offset: offset)
    }

    /// True for a name that a topic can have in Kafka: 1 to 249 letters, digits, dots, underscores and hyphens.
    public static func isTopic(_ name: String) -> Bool {
        (1...249).contains(name.utf8.count) && name.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
    }

    /// Reads a result's `origin`, or returns nil for one at which no record can be.
    public init?(_ document: JSONDocument, originOf result: JSONDocument.Node) {
        guard let origin = document.member("origin", of: result), let topic = document.text("topic", of: origin),
            let partition = document.integer("partition", of: origin).flatMap(Int32.init(exactly:)),
            let offset = document.text("offset", of: origin).flatMap({ Int64($0) }), Self.isTopic(topic), partition >= 0,
            offset >= 0, offset < .max
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset)
    }
}

extension RecordPlace: Comparable, CustomStringConvertible {
    /// By topic, partition and offset: the order in which records are read back.
    public static func < (left: Self, right: Self) -> Bool {
        if left.partition != right.partition || left.topic != right.topic {
            return left.topic == right.topic ? left.partition < right.partition : left.topic < right.topic
        }
        return left.offset < right.offset
    }

    /// `topic:partition:offset`.
    public var description: String { "\(topic):\(partition):\(offset)" }
}
