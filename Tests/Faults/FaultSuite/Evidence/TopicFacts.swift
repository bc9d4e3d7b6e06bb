import Delivery
import FaultOracle
import Kafka

/// Reads whole topics, committed records only, and the group's positions, when nothing moves any more.
struct TopicFacts {
    let kafka: KafkaConfiguration
    /// How long the reading of one topic may take.
    var limit = Duration.seconds(180)

    /// The requests topic.
    func inputs(_ topic: String) throws -> [InputFact] {
        var facts: [InputFact] = []
        try read(topic) { record in
            let content = Workload.content(key: Self.bytes(record.key), value: Self.bytes(record.value))
            facts.append(InputFact(Place(record.partition, record.offset), content, at: record.timestamp ?? 0))
        }
        return facts
    }

    /// The requests topic where gateways alone have written.
    ///
    /// - Throws: A record there is none of theirs, or Kafka failed.
    func httpRecords(_ topic: String) throws -> [HTTPRecordFact] {
        var reader = FactReader()
        var facts: [HTTPRecordFact] = []
        var unknown = 0
        try read(topic) { record in
            let place = Place(record.partition, record.offset)
            if let value = record.value, let fact = reader.httpRecord(value, at: place, time: record.timestamp ?? 0) {
                facts.append(fact)
            } else {
                unknown += 1
            }
        }
        guard unknown == 0 else { throw SuiteError.failed("\(unknown) records of \(topic) are no requests of ours") }
        return facts
    }

    /// The requests on our own topic that repeat others.
    func replays(_ topic: String) throws -> [ReplayFact] {
        var reader = FactReader()
        var facts: [ReplayFact] = []
        try read(topic) { record in
            guard let value = record.value,
                let fact = reader.replay(value, at: Place(record.partition, record.offset, isReplay: true))
            else { return }
            facts.append(fact)
        }
        return facts
    }

    /// What the results topic tells.
    struct Results {
        var final: [ResultFact] = []
        var wholes: [WholeFact] = []
        var parts: [PartFact] = []
        var outcomes: [OutcomeFact] = []
    }

    /// The results topic: of requests, of those that were sent in parts, of their parts, and of what became of calls.
    ///
    /// - Throws: A record there is no result, or Kafka failed.
    func results(_ topic: String) throws -> Results {
        var reader = FactReader()
        var facts = Results()
        var unknown = 0
        try read(topic) { record in
            guard let value = record.value else {
                unknown += 1
                return
            }
            if let fact = reader.result(value, at: record.timestamp ?? 0) {
                facts.final.append(fact)
            } else if let fact = reader.whole(value) {
                facts.wholes.append(fact)
            } else if let fact = reader.part(value, at: record.timestamp ?? 0) {
                facts.parts.append(fact)
            } else if let fact = reader.outcome(value) {
                facts.outcomes.append(fact)
            } else {
                unknown += 1
            }
        }
        guard unknown == 0 else { throw SuiteError.failed("\(unknown) records of \(topic) are no results") }
        return facts
    }

    /// The dead-letter topic.
    func deadLetters(_ topic: String) throws -> [DeadLetterFact] {
        var facts: [DeadLetterFact] = []
        try read(topic) { record in
            let digest = Digest.ofRecord(key: Self.bytes(record.key), value: Self.bytes(record.value))
            facts.append(DeadLetterFact(Self.deadLetterOrigin(record) ?? Place(-1, record.offset), digest: digest))
        }
        return facts
    }

    /// What the group committed for every partition of the topic.
    ///
    /// - Parameters:
    ///   - topic: The requests topic.
    ///   - group: The consumer group.
    ///   - partitions: The number of partitions.
    /// - Returns: One fact for each partition.
    /// - Throws: The group did not answer.
    func positions(_ topic: String, group: String, partitions: Int) throws -> [PositionFact] {
        let member = try Consumer(kafka, groupID: group, wakeUpFileDescriptor: -1)
        defer { member.close(timeout: .seconds(1)) }
        let asked = (0..<Int32(partitions)).map { TopicPartition(topic: topic, partition: $0) }
        return try member.group.committed(asked, timeout: .seconds(30)).map { found in
            PositionFact(
                found.partition.partition, committed: found.offset, finished: try? FinishedOffsets(decoding: found.metadata))
        }
    }

    /// Where a dead letter says that its original stands; nil when it does not say.
    static func deadLetterOrigin(_ record: borrowing ConsumedRecord) -> Place? {
        var partition: Int32?
        var offset: Int64?
        record.forEachHeader { name, value in
            guard let value else { return }
            switch Self.text(name) {
            case "pushfan-dlq-partition": partition = Int32(Self.text(value))
            case "pushfan-dlq-offset": offset = Int64(Self.text(value))
            default: break
            }
        }
        guard let partition, let offset else { return nil }
        return Place(partition, offset)
    }

    private func read(_ topic: String, _ body: (borrowing ConsumedRecord) -> Void) throws {
        let reader = try TopicReader(kafka, topic: topic, start: .beginning, timeout: .seconds(30))
        defer { reader.close() }
        let deadline = ContinuousClock.now + limit
        while !reader.hasReachedEnd {
            guard ContinuousClock.now < deadline else { throw SuiteError.late("reading \(topic)") }
            while reader.nextEvent() != nil {}
            _ = reader.read(timeout: .milliseconds(200)) { body($0) }
        }
    }

    private static func bytes(_ span: Span<UInt8>?) -> [UInt8]? {
        guard let span else { return nil }
        return span.withUnsafeBufferPointer { Array($0) }
    }

    private static func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
