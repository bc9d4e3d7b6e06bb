import Basics
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
    /// librdkafka 2.0.2 asks the leader that it knows, until something lets it ask for metadata; a call that ends without an answer does
    /// not. So after such a call it is first asked who leads the topic now.
    ///
    /// - Parameters:
    ///   - partitions: The partitions' numbers.
    ///   - topic: Their topic.
    ///   - time: Milliseconds since 1970, or one of the logical offsets.
    ///   - timeout: How long to wait.
    /// - Returns: One offset for each partition, in order, with `LogicalOffset.end` for a time after the last record.
    /// - Throws: The call failed, or one of the partitions did.
    func offsets(
        of partitions: some Collection<Int32>, in topic: String, at time: Int64, timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        let deadline = ContinuousClock.now + timeout
        var reason: KafkaError?
        if isDoubtful(topic) { _ = hasLeaders(partitions, of: topic, timeout: timeout / 2) }
        while true {
            let left = max(.zero, deadline - .now)
            do throws(KafkaError) {
                let named = partitions.map { TopicPartition(topic: topic, partition: $0) }
                let offsets = try offsetsAtOnce(of: named, called: topic, at: time, timeout: left)
                setDoubtful(topic, isDoubtful: false)
                return offsets
            } catch {
                let failure = cause(of: error, partitions: partitions, topic: topic, until: deadline)
                setDoubtful(topic, isDoubtful: failure.isLeaderAway)
                if failure.isTimeout, let reason { throw reason }
                guard failure.isLeaderUnknown, left > Self.pause else { throw failure }
                reason = failure
                usleep(useconds_t(Self.pause.timeoutMilliseconds) * 1000)
                _ = hasLeaders(partitions, of: topic, timeout: deadline - .now)
            }
        }
    }

    /// Between two questions for a partition without a leader.
    private static let pause = Duration.milliseconds(50)
    /// The most that it takes to ask who leads: a broker that does not answer must leave time for the question itself.
    private static let metadataLimit = Duration.seconds(1)

    /// The library calls a partition unknown, too, that is there and has no leader.
    private func cause(
        of error: KafkaError, partitions: some Collection<Int32>, topic: String, until deadline: ContinuousClock.Instant
    ) -> KafkaError {
        let limit = max(Self.pause, deadline - .now)
        guard error.isUnknownTopicOrPartition, hasLeaders(partitions, of: topic, timeout: limit) == false else { return error }
        return KafkaError(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, message: "cannot read the offsets of \(topic): no leader")
    }

    /// Asks the brokers who leads partitions now, so that the library knows. Where none answers, nothing changes, and the
    /// question for its offsets shows what is wrong with the topic. Returns whether each has a leader, or nil if that is not
    /// known, or a partition does not exist.
    private func hasLeaders(_ partitions: some Collection<Int32>, of topic: String, timeout: Duration) -> Bool? {
        guard timeout > .zero, let index = try? addTopic(topic) else { return nil }
        var answer: UnsafePointer<rd_kafka_metadata>?
        let limit = min(timeout, Self.metadataLimit).timeoutMilliseconds
        _ = rd_kafka_metadata(pointer, 0, self.topic(index), &answer, limit)
        guard let answer else { return nil }
        defer { rd_kafka_metadata_destroy(answer) }
        guard answer.pointee.topic_cnt == 1, let found = answer.pointee.topics?.pointee else { return nil }
        let leaders = UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt)).map { ($0.id, $0.leader) }
        let asked = Set(partitions)
        let known = leaders.filter { asked.contains($0.0) }
        return known.count == asked.count ? known.allSatisfy { $0.1 >= 0 } : nil
    }

    /// The same for partitions of several topics, each once, asked once. Errors call them `name`.
    func offsetsAtOnce(
        of partitions: [TopicPartition], called name: String, at time: Int64, timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        let list = OffsetList(capacity: partitions.count)
        for partition in partitions { try list.add(partition, offset: time) }
        try KafkaError.check(
            rd_kafka_offsets_for_times(pointer, list.pointer, timeout.timeoutMilliseconds),
            what: "cannot read the offsets of \(name)")
        try list.checkElements("cannot read the offset")
        // A broker may leave the order of the question.
        let offsets = Dictionary(list.map { ($0.topicPartition, $0.offset) }) { first, _ in first }
        return partitions.map { offsets[$0] ?? LogicalOffset.end }
    }
}
