package import Delivery
package import GroupPositions
package import Groups
package import JobSupport
package import Kafka
import PushModel

/// Sets the start of a group in partitions of requests, of waiting requests, and of large requests. One call at a time.
///
/// The group must have no members, so nothing moves during the search.
package struct GroupStart {
    /// The position of one partition.
    package struct Row: Sendable {
        /// The partition.
        package let partition: TopicPartition
        /// The position with the text that is kept with it.
        package let commit: LedgerCommit
        /// The records in front of the position. Where they were not read, ends of transactions count as well.
        package var before: Int64
        /// The records behind the position that will be sent, counted alike.
        package var after: Int64
        /// The records behind the position that are finished and will not be repeated.
        package var finished: Int64 = 0
        /// The records behind it that are finished and will be repeated, because the position's metadata has no room for them.
        package var repeated: Int64 = 0
        /// True if large requests are counted, whose one result is written or not.
        package var isOfParents = false
    }

    private let examination: GroupExamination
    private var terms: GroupTerms { examination.terms }
    private var context: JobContext { examination.context }

    /// Nothing was asked yet.
    package init(_ terms: GroupTerms, context: JobContext) throws(JobFailure) {
        let admin = try JobFailure.naming(.describeGroup) { () throws(KafkaError) in try TopicAdmin(terms.kafka) }
        examination = GroupExamination(terms, admin: admin, context: context)
    }

    /// The number of the group's members. While there are any, nothing must be written.
    package func memberCount() throws(JobFailure) -> Int {
        try JobFailure.naming(.describeGroup, examination.description).members.count
    }

    /// The positions of the group in every partition of the topics of requests, of waiting requests and of large requests, in the
    /// order of the topics.
    package func positions() throws(JobFailure) -> [GroupPosition] {
        let topics = try existing(terms.topics)
        return try JobFailure.naming(.readPositions) { () throws(KafkaError) in try examination.positions(in: topics) }
    }

    /// Finds out where the group begins in some partitions. Returns a row for each, in the same order.
    package func rows(
        at place: StartPlace, for chosen: [GroupPosition], of all: [GroupPosition]
    ) throws(JobFailure) -> [Row] {
        guard case .rule(let rule) = place else { return try finishedRows(for: chosen, of: all) }
        let time = rule.time(now: Timestamp(milliseconds: context.now()))?.milliseconds
        let marks = try lastRecords(of: chosen, of: all)
        return try JobFailure.naming(.findFirst) { () throws(KafkaError) in
            let since =
                if let time {
                    try examination.admin.offsets(since: time, of: chosen.map(\.partition), timeout: context.timeout)
                } else {
                    chosen.map { _ in Int64?.none }
                }
            return zip(chosen, since).compactMap { position, since in
                rule.offset(in: position, since: since).map { row(position, at: $0, marks: marks[position.partition]) }
            }
        }
    }

    /// A row for a partition of which nothing more is known than where it begins.
    private func row(_ position: GroupPosition, at offset: Int64, marks: ReadMarks?) -> Row {
        let isOfParents = position.partition.topic == terms.parents
        return Row(
            partition: position.partition, commit: Self.commit(at: offset, of: position, isOfParents: isOfParents, marks: marks),
            before: offset - position.low, after: position.high - offset, isOfParents: isOfParents)
    }

    /// The position by which a partition begins at an offset.
    package static func commit(
        at offset: Int64, of position: GroupPosition, isOfParents: Bool, marks: ReadMarks? = nil
    ) -> LedgerCommit {
        guard !isOfParents else { return OpenParents(start: offset, unknownBefore: position.high).commit() }
        var finished = FinishedOffsets()
        finished.marks = marks
        return LedgerCommit(offset: offset, end: position.high, finished: finished)
    }

    /// The offsets at a partition's end among which its last record is looked for: others are ends of transactions.
    private static let lastOffsets: Int64 = 100

    /// The last records of some partitions, by which a worker sees that a topic was made again since. None of the topic of parents, which
    /// compaction may remove, nor of a partition whose last offsets hold none.
    private func lastRecords(
        of chosen: [GroupPosition], of all: [GroupPosition]
    ) throws(JobFailure) -> [TopicPartition: ReadMarks] {
        var marks: [TopicPartition: ReadMarks] = [:]
        for topic in terms.topics where topic != terms.parents {
            try read(topic, of: chosen, of: all, from: { max($0.low, $0.high - Self.lastOffsets) }) { record in
                let partition = TopicPartition(topic: topic, partition: record.partition)
                ReadMarks.read(RecordMark(record), into: &marks[partition])
            }
        }
        return marks
    }

    private func finishedRows(for chosen: [GroupPosition], of all: [GroupPosition]) throws(JobFailure) -> [Row] {
        let places = try gather(chosen)
        var starts: [TopicPartition: FinishedStart] = [:]
        for position in chosen { starts[position.partition] = FinishedStart() }
        for topic in terms.topics where topic != terms.parents {
            try read(topic, of: chosen, of: all, from: \.low) { record in
                let partition = TopicPartition(topic: topic, partition: record.partition)
                starts[partition]?.read(RecordMark(record))
                guard let isFinished = isFinished(record, of: partition, by: places) else { return }
                starts[partition]?.add(record.offset, publishedAt: record.timestamp, isFinished: isFinished)
            }
        }
        return chosen.map { position in
            if let outcome = places.wholes.outcome(of: position.partition) { return Row(position.partition, from: outcome) }
            let start = starts[position.partition] ?? FinishedStart()
            return Row(
                partition: position.partition, commit: start.commit(end: position.high), before: Int64(start.passedCount),
                after: Int64(start.waitingCount + start.repeatedCount), finished: Int64(start.aheadCount),
                repeated: Int64(start.repeatedCount))
        }
    }

    /// Reads the partitions of a topic that were chosen, up to where they end.
    private func read(
        _ topic: String, of chosen: [GroupPosition], of all: [GroupPosition], from start: (GroupPosition) -> Int64,
        take: (borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) {
        let numbers = Set(chosen.lazy.filter { $0.partition.topic == topic }.map(\.partition.partition))
        guard !numbers.isEmpty else { return }
        let partitions = all.filter { $0.partition.topic == topic }
        // Of partitions that were not chosen nothing is read.
        let first = partitions.map {
            ($0.partition.partition, numbers.contains($0.partition.partition) ? start($0) : $0.high)
        }
        let last = partitions.map { ($0.partition.partition, $0.high) }
        try read(
            topic, from: .offsets(Dictionary(uniqueKeysWithValues: first)), to: .offsets(Dictionary(uniqueKeysWithValues: last)),
            take: take)
    }

    private func read(
        _ topic: String, from start: TopicReader.Start = .beginning, to stop: TopicReader.Stop = .end,
        take: (borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) {
        let scan = TopicScan(context, topic: topic)
        let reader = try scan.open(start, stop)
        defer { reader.close() }
        try scan.read(reader, take)
    }

    /// True if workers are done with a record, or nil for another group's record, which waits for nothing of ours.
    private func isFinished(
        _ record: borrowing ConsumedRecord, of partition: TopicPartition, by places: FinishedPlaces
    ) -> Bool? {
        if terms.kind(of: partition.topic) == .requests {
            return places.contains(record.offset, of: partition, publishedAt: record.timestamp)
        }
        guard let waiting = WaitingRecord(OwnHeaders.of(record), of: terms.group) else { return nil }
        let mayHaveGoneOn = DelayLanes.mayHaveGoneOn(
            in: terms.delays.firstIndex(of: partition.topic), written: record.timestamp.map { Timestamp(milliseconds: $0) },
            due: waiting.due.map { Timestamp(milliseconds: $0) }, now: Timestamp(milliseconds: context.now()))
        return places.copies.isDone(waiting, at: partition, offset: record.offset, mayHaveGoneOn: mayHaveGoneOn)
    }

    /// Reads from the records of workers which requests they are done with.
    private func gather(_ chosen: [GroupPosition]) throws(JobFailure) -> FinishedPlaces {
        var places = FinishedPlaces(of: chosen, group: terms, outcomes: context.topics)
        // Records of our own requests count for these requests alone.
        let own = chosen.contains { $0.partition.topic == context.topics.requestsOwn } ? [context.topics.requestsOwn] : []
        // Waiting requests have to be known first.
        let topics = terms.delays + [terms.held] + own + [terms.parents, context.topics.results, context.topics.deadLetters]
        let told = try existing(topics).map(\.topic)
        guard told.contains(context.topics.results) else { throw .room(StartFailure.noResults(topic: context.topics.results)) }
        for topic in told { try read(topic) { record in places.take(record, of: topic) } }
        guard !places.isNewer else { throw .room(StartFailure.newerOutcomes) }
        places.close()
        return places
    }

    /// Those of some topics that exist, with their numbers of partitions.
    private func existing(_ names: [String]) throws(JobFailure) -> [(topic: String, partitionCount: Int)] {
        let found = try JobFailure.naming(.describeTopics) { () throws(KafkaError) in
            try examination.admin.describe(topics: names, timeout: context.timeout).topics
        }
        var topics: [(topic: String, partitionCount: Int)] = []
        for (name, description) in zip(names, found) {
            switch description {
            case .existing(let count): topics.append((name, count))
            case .missing: continue
            case .failed(let error): throw .kafka(error, .read(topic: name))
            }
        }
        return topics
    }

    /// Writes all positions, or none.
    package func write(_ rows: [Row]) throws(JobFailure) {
        try JobFailure.naming(.writePositions) { () throws(KafkaError) in
            let session = try TransactionalSession(
                terms.kafka, id: "pushfan-start-\(terms.group)", timeout: context.timeout, isCancelled: context.isCancelled)
            try session.fence()
            let offsets = rows.map { OffsetCommit($0.partition, offset: $0.commit.offset, metadata: $0.commit.metadata) }
            try session.transact { () throws(KafkaError) in
                try session.producer.sendOffsets(
                    offsets, group: GroupMetadata(withoutMembers: terms.group), timeout: context.timeout)
            }
        }
    }
}

extension GroupStart.Row {
    /// A row for a partition of large requests.
    init(_ partition: TopicPartition, from outcome: ParentsStart.Outcome) {
        self.init(
            partition: partition, commit: outcome.commit, before: Int64(outcome.passedCount),
            after: Int64(outcome.waitingCount + outcome.repeatedCount), finished: Int64(outcome.aheadCount),
            repeated: Int64(outcome.repeatedCount), isOfParents: true)
    }
}
