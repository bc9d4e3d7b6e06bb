import Delivery
import Kafka
import Settings

/// The partitions that workers do not read because the last record that the group had read is gone from there.
enum LostRecords {
    /// Asks which they are, as workers do before they begin (`LogTail`).
    ///
    /// - Parameters:
    ///   - positions: Where the group stands in partitions of its topics.
    ///   - configuration: The brokers.
    ///   - timeout: How long each question may take.
    /// - Returns: Their names, in the order of the positions.
    /// - Throws: As `RecordFetcher.record` does.
    static func ask(
        among positions: [GroupPosition], _ configuration: KafkaConfiguration, timeout: Duration
    ) throws(KafkaError) -> [TopicPartition] {
        let fetcher = try RecordFetcher(configuration, readAhead: 1 << 20)
        defer { fetcher.stop() }
        var lost: [TopicPartition] = []
        for position in positions {
            guard let committed = position.committed, let marks = position.marks else { continue }
            var tail = LogTail(position: committed, marks: marks, low: position.low, high: position.high)
            tail.last = try look(at: marks.last, position, fetcher, timeout: timeout)
            if tail.last != .same { tail.first = try look(at: marks.first, position, fetcher, timeout: timeout) }
            if tail.ruling(.safe, since: nil)?.decision == .refused { lost.append(position.partition) }
        }
        return lost
    }

    /// Asks the same of large requests; where that is not answered, the rest is worth knowing.
    ///
    /// - Returns: Where the group stands in the topic of parents, and the names of those partitions; nothing where it cannot be learnt.
    static func askOfParents(
        _ settings: KafkaSettings, _ admin: TopicAdmin, _ configuration: KafkaConfiguration, timeout: Duration
    ) -> (positions: [GroupPosition], lost: [TopicPartition]) {
        let positions = GroupPosition.known(
            of: settings.groupID, in: settings.topics.parents, admin, configuration, timeout: timeout)
        guard let lost = try? ask(among: positions, configuration, timeout: min(timeout, .seconds(5))) else { return ([], []) }
        return (positions, lost)
    }

    private static func look(
        at mark: RecordMark, _ position: GroupPosition, _ fetcher: RecordFetcher, timeout: Duration
    ) throws(KafkaError) -> LogTail.Look {
        guard mark.offset >= position.low, mark.offset < position.high else { return .absent }
        // Questions about one partition must ascend.
        fetcher.stop()
        switch try fetcher.record(at: mark.offset, of: position.partition, timeout: timeout) {
        case .record(let record): return RecordMark(record) == mark ? .same : .other
        case .gone: return .absent
        }
    }

    /// Which they are, why nothing is read there, and what an operator does; nil without any.
    static func text(_ lost: [TopicPartition]) -> (text: String, command: String)? {
        guard !lost.isEmpty else { return nil }
        let names = lost.prefix(3).map { "\($0)" }.joined(separator: ", ")
        let rest = lost.count > 3 ? " and \(lost.count - 3) more" : ""
        return (
            text:
                "the last record that the group had read is gone from \(names)\(rest); Kafka lost it, or the topic was recreated:"
                + " workers leave these partitions until you say where the group begins",
            command: RefusedStarts.replacement(of: lost)
        )
    }
}

extension RecordMark {
    /// The mark of a record that was fetched.
    init(_ record: FetchedRecord) {
        switch (record.key, record.value) {
        case (let key?, let value?):
            self.init(offset: record.offset, time: record.timestamp, key: key.span, value: value.span)
        case (let key?, nil): self.init(offset: record.offset, time: record.timestamp, key: key.span, value: nil)
        case (nil, let value?): self.init(offset: record.offset, time: record.timestamp, key: nil, value: value.span)
        case (nil, nil): self.init(offset: record.offset, time: record.timestamp, key: nil, value: nil)
        }
    }
}
