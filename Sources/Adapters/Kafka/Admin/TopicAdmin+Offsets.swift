import CRDKafka

extension TopicAdmin {
    /// The beginnings and ends of partitions of any topics, in two questions for all of them.
    ///
    /// - Parameters:
    ///   - partitions: The partitions, each once.
    ///   - timeout: The longest wait for each of the two answers.
    /// - Returns: One element for each partition, in order.
    /// - Throws: `isAuthorization`, `isUnknownTopicOrPartition`, `isUnreachable`, or `isAuthentication`, of any of them.
    public func watermarks(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Watermarks] {
        let lows = try client.offsets(of: partitions, at: LogicalOffset.beginning, timeout: timeout)
        let highs = try client.offsets(of: partitions, at: LogicalOffset.end, timeout: timeout)
        return zip(lows, highs).map { Watermarks(low: $0, high: $1) }
    }

    /// The ends of partitions of any topics, in one question for all of them.
    ///
    /// - Parameters:
    ///   - partitions: The partitions, each once.
    ///   - timeout: The longest wait.
    /// - Returns: The next offset of each, in order.
    /// - Throws: As `watermarks` does.
    public func ends(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64] {
        try client.offsets(of: partitions, at: LogicalOffset.end, timeout: timeout)
    }

    /// The beginnings of partitions of any topics, in one question for all of them.
    ///
    /// - Parameters:
    ///   - partitions: The partitions, each once.
    ///   - timeout: The longest wait.
    /// - Returns: The first offset of each that is retained, in order.
    /// - Throws: As `watermarks` does.
    public func beginnings(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64] {
        try client.offsets(of: partitions, at: LogicalOffset.beginning, timeout: timeout)
    }

    /// The first record of each partition of any topics that is not older than a time, in one question for all of them.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970. Times before that count as 0.
    ///   - partitions: The partitions, each once.
    ///   - timeout: The longest wait.
    /// - Returns: One offset for each partition, in order, or nil where every record is older.
    /// - Throws: As `watermarks` does.
    public func offsets(since time: Int64, of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64?] {
        // Times before 1970 would be taken for the logical offsets.
        try client.offsets(of: partitions, at: max(0, time), timeout: timeout).map { $0 >= 0 ? $0 : nil }
    }

    /// The partitions of each leader, in one question for all of them.
    ///
    /// - Parameters:
    ///   - partitions: The partitions, each once.
    ///   - timeout: The longest wait.
    /// - Returns: The partitions, in order, of one leader after another. Those without a leader, or that are not there, are left out.
    /// - Throws: `isUnreachable` or `isAuthentication`.
    public func partitionsByLeader(
        _ partitions: [TopicPartition], timeout: Duration
    ) throws(KafkaError) -> [[TopicPartition]] {
        let topics = Set(partitions.map(\.topic))
        for topic in topics { _ = try client.addTopic(topic) }
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        let known = Dictionary(uniqueKeysWithValues: topics.map { ($0, snapshot.topic($0)?.partitions ?? []) })
        var led: [Int32: [TopicPartition]] = [:]
        for partition in partitions {
            let (own, number) = (known[partition.topic] ?? [], Int(partition.partition))
            guard own.indices.contains(number), let leader = own[number].leader else { continue }
            led[leader, default: []].append(partition)
        }
        return led.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The beginnings and ends of the partitions of a topic.
    ///
    /// - Parameters:
    ///   - topic: The topic's name.
    ///   - partitionCount: How many partitions it has.
    ///   - timeout: How long each of the two questions may take.
    /// - Returns: One element for each partition, in order.
    /// - Throws: `isAuthorization`, `isUnknownTopicOrPartition`, `isUnreachable`, or `isAuthentication`.
    public func watermarks(ofTopic topic: String, partitionCount: Int, timeout: Duration) throws(KafkaError) -> [Watermarks] {
        let partitions = 0..<Int32(clamping: partitionCount)
        guard !partitions.isEmpty else { return [] }
        let lows = try client.offsets(of: partitions, in: topic, at: LogicalOffset.beginning, timeout: timeout)
        let highs = try client.offsets(of: partitions, in: topic, at: LogicalOffset.end, timeout: timeout)
        return zip(lows, highs).map { Watermarks(low: $0, high: $1) }
    }

    /// The ends of chosen partitions of a topic.
    ///
    /// - Parameters:
    ///   - partitions: Their numbers.
    ///   - topic: The topic's name.
    ///   - timeout: How long to wait.
    /// - Returns: The next offset of each, in order.
    /// - Throws: As `watermarks` does.
    public func ends(of partitions: [Int32], in topic: String, timeout: Duration) throws(KafkaError) -> [Int64] {
        guard !partitions.isEmpty else { return [] }
        return try client.offsets(of: partitions, in: topic, at: LogicalOffset.end, timeout: timeout)
    }
}
