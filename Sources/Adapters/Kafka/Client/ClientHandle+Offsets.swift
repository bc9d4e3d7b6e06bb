import Basics
import CRDKafka
import Glibc

extension ClientHandle {
    /// The offsets of partitions of one topic: see `offsets(of:at:timeout:)`.
    func offsets(
        of partitions: some Collection<Int32>, in topic: String, at time: Int64, timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        try offsets(of: partitions.map { TopicPartition(topic: topic, partition: $0) }, at: time, timeout: timeout)
    }

    /// The first offset of each partition, in order, that is not older than `time`, in milliseconds since 1970, or its end or
    /// beginning for a logical offset. A time after the last record gives `LogicalOffset.end`.
    ///
    /// All partitions, of whatever topics, each once, are asked for at once: the library sends one question to each broker that leads some
    /// of them. `rd_kafka_query_watermark_offsets` takes one at a time, which for 12 took most of a second. The request is the same
    /// for a time and for the two logical offsets (Kafka protocol, ListOffsets). A partition whose leader is being elected, or that was
    /// made just now, is asked again until the time is up; that it has no leader is what is thrown then, also where the last question
    /// found no time for an answer.
    ///
    /// librdkafka 2.0.2 asks the leader that it knows, until something lets it ask for metadata; a call that ends without an
    /// answer does not. So after such a call it is first asked who leads the topics now.
    func offsets(of partitions: [TopicPartition], at time: Int64, timeout: Duration) throws(KafkaError) -> [Int64] {
        let deadline = ContinuousClock.now + timeout
        let topics = Set(partitions.map(\.topic))
        var reason: KafkaError?
        if topics.contains(where: { isDoubtful($0) }) { _ = hasLeaders(partitions, timeout: timeout / 2) }
        while true {
            let left = max(.zero, deadline - .now)
            do throws(KafkaError) {
                let offsets = try offsetsAtOnce(of: partitions, at: time, timeout: left)
                for topic in topics { setDoubtful(topic, isDoubtful: false) }
                return offsets
            } catch {
                let failure = cause(of: error, partitions: partitions, until: deadline)
                for topic in topics { setDoubtful(topic, isDoubtful: failure.isLeaderAway) }
                if failure.isTimeout, let reason { throw reason }
                guard failure.isLeaderUnknown, left > Self.pause else { throw failure }
                reason = failure
                usleep(useconds_t(Self.pause.timeoutMilliseconds) * 1000)
                _ = hasLeaders(partitions, timeout: deadline - .now)
            }
        }
    }

    /// Between two questions for a partition without a leader.
    private static let pause = Duration.milliseconds(50)
    /// The most that it takes to ask who leads: a broker that does not answer must leave time for the question itself.
    private static let metadataLimit = Duration.seconds(1)

    /// The library calls a partition unknown, too, that is there and has no leader.
    private func cause(
        of error: KafkaError, partitions: [TopicPartition], until deadline: ContinuousClock.Instant
    ) -> KafkaError {
        let limit = max(Self.pause, deadline - .now)
        guard error.isUnknownTopicOrPartition, hasLeaders(partitions, timeout: limit) == false else { return error }
        return KafkaError(
            RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            message: "cannot read the offsets of \(Self.names(of: partitions)): no leader")
    }

    /// Asks the brokers who leads partitions now, so that the library knows. Where none answers, nothing changes, and the
    /// question for their offsets shows what is wrong with the topics. Returns whether each has a leader, or nil if that is not
    /// known, or a partition does not exist.
    private func hasLeaders(_ partitions: [TopicPartition], timeout: Duration) -> Bool? {
        guard timeout > .zero else { return nil }
        let topics = Set(partitions.map(\.topic))
        let indices = topics.compactMap { try? addTopic($0) }
        guard indices.count == topics.count, let first = indices.first else { return nil }
        var answer: UnsafePointer<rd_kafka_metadata>?
        let limit = min(timeout, Self.metadataLimit).timeoutMilliseconds
        // Without a handle the library asks for all topics that the client has handles for.
        _ = rd_kafka_metadata(pointer, 0, indices.count == 1 ? topic(first) : nil, &answer, limit)
        guard let answer else { return nil }
        defer { rd_kafka_metadata_destroy(answer) }
        let asked = Set(partitions)
        let leaders = UnsafeBufferPointer(start: answer.pointee.topics, count: Int(answer.pointee.topic_cnt)).flatMap { found in
            let name = found.topic.map { String(cString: $0) } ?? ""
            return UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt))
                .filter { asked.contains(TopicPartition(topic: name, partition: $0.id)) }.map(\.leader)
        }
        return leaders.count == asked.count ? leaders.allSatisfy { $0 >= 0 } : nil
    }

    /// The same as `offsets(of:at:timeout:)`, asked once.
    func offsetsAtOnce(of partitions: [TopicPartition], at time: Int64, timeout: Duration) throws(KafkaError) -> [Int64] {
        guard !partitions.isEmpty else { return [] }
        let list = OffsetList(capacity: partitions.count)
        for partition in partitions { try list.add(partition, offset: time) }
        try KafkaError.check(
            rd_kafka_offsets_for_times(pointer, list.pointer, timeout.timeoutMilliseconds),
            what: "cannot read the offsets of \(Self.names(of: partitions))")
        try list.checkElements("cannot read the offset")
        // A broker may leave the order of the question.
        let offsets = Dictionary(list.map { ($0.topicPartition, $0.offset) }) { first, _ in first }
        return partitions.map { offsets[$0] ?? LogicalOffset.end }
    }

    /// The names of the topics of partitions, each once, in their order.
    private static func names(of partitions: [TopicPartition]) -> String {
        var names: [String] = []
        for partition in partitions where names.last != partition.topic && !names.contains(partition.topic) {
            names.append(partition.topic)
        }
        return names.joined(separator: ", ")
    }
}
