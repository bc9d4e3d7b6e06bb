import CRDKafka
import Glibc

extension ClientHandle {
    /// The first offset of each partition that is not older than `time`, or its end or beginning.
    ///
    /// All partitions are asked for at once; `rd_kafka_query_watermark_offsets` takes one at a time, which for 12 took most of a second.
    /// The request is the same for a time and for the two logical offsets (Kafka protocol, ListOffsets). A partition whose leader is
    /// being elected, or that was made just now, is asked again until the time is up; that it has no leader is what is thrown then, also
    /// where the last question found no time for an answer.
    ///
    /// - Parameters:
    ///   - partitions: The partitions' numbers.
    ///   - topic: Their topic.
    ///   - time: Milliseconds since 1970, or one of the logical offsets.
    ///   - timeout: How long to wait.
    /// - Returns: One offset for each partition, in order; `LogicalOffset.end` for a time after the last record.
    /// - Throws: The call failed, or one of the partitions did.
    func offsets(
        of partitions: some Collection<Int32>, in topic: String, at time: Int64, timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        let deadline = ContinuousClock.now + timeout
        var reason: KafkaError?
        while true {
            let left = max(.zero, deadline - .now)
            do throws(KafkaError) {
                return try offsetsAtOnce(of: partitions, in: topic, at: time, timeout: left)
            } catch {
                if error.isTimeout, let reason { throw reason }
                guard error.isLeaderUnknown, left > Self.pause else { throw error }
                reason = error
                usleep(useconds_t(Self.pause.wholeMilliseconds) * 1000)
            }
        }
    }

    /// Between two questions for a partition without a leader.
    private static let pause = Duration.milliseconds(50)

    private func offsetsAtOnce(
        of partitions: some Collection<Int32>, in topic: String, at time: Int64, timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        let list = OffsetList(capacity: partitions.count)
        for partition in partitions { try list.add(TopicPartition(topic: topic, partition: partition), offset: time) }
        try KafkaError.check(
            rd_kafka_offsets_for_times(pointer, list.pointer, timeout.wholeMilliseconds), "cannot read the offsets of \(topic)")
        try list.checkElements("cannot read the offset")
        // A broker may leave the order of the question.
        let offsets = Dictionary(list.map { ($0.partition, $0.offset) }) { first, _ in first }
        return partitions.map { offsets[$0] ?? LogicalOffset.end }
    }
}
