import Kafka

/// Answers about offsets of partitions of any topics, in one question for all of them.
protocol OffsetSource {
    /// The next offset of each partition, in order.
    func ends(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64]
    /// The first offset of each partition that is retained, in order.
    func beginnings(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64]
    /// The first offset of each partition that is not older than a time, in milliseconds since 1970, in order, or nil where all are.
    func offsets(since time: Int64, of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64?]
    /// The partitions of each leader. Those without one are left out.
    func partitionsByLeader(_ partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [[TopicPartition]]
}

extension TopicAdmin: OffsetSource {}
