import CRDKafka

@testable import GroupPositions
@testable import Kafka

/// Brokers that answer questions about offsets from a table, and keep a list of them. Partition n is led by broker n modulo `count`.
final class FakeBrokers: OffsetSource {
    /// A question that was asked.
    enum Question: Equatable {
        case ends(Int)
        case beginnings(Int)
        case times(Int)
        case leaders(Int)
    }

    /// The number of brokers.
    var count: Int32 = 3
    /// The brokers that do not answer, though they lead.
    var silent: Set<Int32> = []
    /// The partitions without a leader.
    var leaderless: Set<TopicPartition> = []
    /// The topics that are not there.
    var missing: Set<String> = []
    /// The topics that the client may not see.
    var forbidden: Set<String> = []
    /// The first and the next offset of each partition, or of all that are not named.
    var bounds: [TopicPartition: Range<Int64>] = [:]
    var usualBounds: Range<Int64> = 0..<0
    /// The questions with their numbers of partitions, and the longest wait of each.
    private(set) var questions: [Question] = []
    private(set) var timeouts: [Duration] = []

    func ends(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64] {
        try take(.ends(partitions.count), about: partitions, timeout)
        return partitions.map { bounds(of: $0).upperBound }
    }

    func beginnings(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64] {
        try take(.beginnings(partitions.count), about: partitions, timeout)
        return partitions.map { bounds(of: $0).lowerBound }
    }

    /// All records are older.
    func offsets(since time: Int64, of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64?] {
        try take(.times(partitions.count), about: partitions, timeout)
        return partitions.map { _ in nil }
    }

    func partitionsByLeader(_ partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [[TopicPartition]] {
        questions.append(.leaders(partitions.count))
        timeouts.append(timeout)
        return (0..<count).map { broker in partitions.filter { !leaderless.contains($0) && $0.partition % count == broker } }
            .filter { !$0.isEmpty }
    }

    private func bounds(of partition: TopicPartition) -> Range<Int64> { bounds[partition] ?? usualBounds }

    private func take(_ question: Question, about partitions: [TopicPartition], _ timeout: Duration) throws(KafkaError) {
        questions.append(question)
        timeouts.append(timeout)
        if partitions.contains(where: { forbidden.contains($0.topic) }) {
            throw KafkaError(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        }
        if partitions.contains(where: { missing.contains($0.topic) }) {
            throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        }
        if partitions.contains(where: leaderless.contains) { throw KafkaError(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) }
        if partitions.contains(where: { silent.contains($0.partition % count) }) {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
    }
}
