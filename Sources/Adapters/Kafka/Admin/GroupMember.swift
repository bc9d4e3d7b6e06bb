/// One member of a consumer group.
public struct GroupMember: Sendable, Equatable {
    /// The name of a static member, else that of its client.
    public let name: String
    /// The id that the group gave it when it joined. Each joining has another.
    public let id: String
    /// The host that it is connected from, as the broker sees it.
    public let host: String
    /// The partitions that it reads. None if that is not written as consumers write it.
    public let partitions: [TopicPartition]
    /// The id of its client, as the broker has it.
    public let clientID: String

    /// A member. Its id is its name unless it is given.
    public init(name: String, id: String? = nil, host: String, partitions: [TopicPartition], clientID: String = "") {
        self.name = name
        self.id = id ?? name
        self.host = host
        self.clientID = clientID
        self.partitions = partitions
    }

    /// A member as a broker tells of it. Its name has a UUID behind it, as brokers make it (Kafka,
    /// `ConsumerGroup.generateMemberId`), or is something else. Kafka writes the host as "/10.0.0.7".
    init(memberID: String, host: String, assignment: [UInt8], clientID: String = "") {
        let ending = memberID.suffix(37)
        let parts = ending.dropFirst().split(separator: "-", omittingEmptySubsequences: false).map(\.count)
        let isGenerated = ending.first == "-" && parts == [8, 4, 4, 4, 12] && ending.count < memberID.count
        self.init(
            name: isGenerated ? String(memberID.dropLast(37)) : memberID, id: memberID,
            host: host.hasPrefix("/") ? String(host.dropFirst()) : host, partitions: AssignmentReader.partitions(in: assignment),
            clientID: clientID)
    }
}

/// Reads what the leader of a consumer group gave to a member: a version, and topics with their partitions (Kafka,
/// `ConsumerProtocolAssignment.json`). Numbers are in network order.
private struct AssignmentReader {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The partitions in an assignment. None if it is cut off.
    static func partitions(in assignment: [UInt8]) -> [TopicPartition] {
        var reader = AssignmentReader(assignment)
        return reader.partitions() ?? []
    }

    private mutating func partitions() -> [TopicPartition]? {
        guard number(byteCount: 2) != nil, let topicCount = number(byteCount: 4) else { return nil }
        var partitions: [TopicPartition] = []
        var topicsLeft = topicCount
        while topicsLeft > 0 {
            guard let length = number(byteCount: 2), let topic = text(length), let count = number(byteCount: 4) else {
                return nil
            }
            var partitionsLeft = count
            while partitionsLeft > 0 {
                guard let partition = number(byteCount: 4) else { return nil }
                partitions.append(TopicPartition(topic: topic, partition: Int32(truncatingIfNeeded: partition)))
                partitionsLeft -= 1
            }
            topicsLeft -= 1
        }
        return partitions
    }

    private mutating func number(byteCount: Int) -> Int? {
        guard bytes.count - position >= byteCount else { return nil }
        defer { position += byteCount }
        return bytes[position..<position + byteCount].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func text(_ length: Int) -> String? {
        guard bytes.count - position >= length else { return nil }
        defer { position += length }
        return String(decoding: bytes[position..<position + length], as: UTF8.self)
    }
}
