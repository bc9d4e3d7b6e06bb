import Delivery
package import GroupPositions
package import Kafka
import PushModel

/// Queries a consumer group, its positions and its starts from Kafka, without joining it. One call at a time.
package struct GroupExamination {
    /// The group, its topics and its brokers.
    package let terms: GroupTerms
    let admin: TopicAdmin
    let context: JobContext

    /// An examination that has asked nothing yet.
    package init(_ terms: GroupTerms, admin: TopicAdmin, context: JobContext) {
        self.terms = terms
        self.admin = admin
        self.context = context
    }

    private func retrying<Value>(_ body: () throws(KafkaError) -> Value) throws(KafkaError) -> Value {
        try FreshTopics.retrying(unless: context.isCancelled, body)
    }

    /// The group's state and members.
    package func description() throws(KafkaError) -> GroupDescription {
        try retrying { () throws(KafkaError) in try admin.describe(group: terms.group, timeout: context.timeout) }
    }

    /// Queries the positions of the group in every partition of some topics, in their order. A time-out also comes from a hanging
    /// transaction that blocks positions.
    package func positions(in topics: [(topic: String, partitionCount: Int)]) throws(KafkaError) -> [GroupPosition] {
        try positions(in: topics, within: context.timeout)
    }

    private func positions(
        in topics: [(topic: String, partitionCount: Int)], within limit: Duration
    ) throws(KafkaError) -> [GroupPosition] {
        var partitions: [TopicPartition] = []
        var marks: [Watermarks] = []
        for (topic, count) in topics {
            partitions += (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
            marks += try retrying { () throws(KafkaError) in
                try admin.watermarks(ofTopic: topic, partitionCount: count, timeout: limit)
            }
        }
        return zip(try committed(partitions, within: limit), marks).map {
            GroupPosition($0.partition, low: $1.low, high: $1.high, committed: $0.offset, metadata: $0.metadata)
        }
    }

    /// Counts what waits in partitions, of which those with an open transaction are known only if `admin` sees the uncommitted.
    func waiting(
        in positions: [GroupPosition], cancelled: Cancellations = Cancellations(), at now: Timestamp
    ) throws(KafkaError) -> [WaitingCount] {
        let reader = WaitingReader(of: terms.group, cancelled: cancelled)
        var counter = try WaitingCounter(terms.kafka, reader: reader, timeout: context.timeout, now: now)
        return try counter.counts(in: positions, kind: terms.kind)
    }

    /// The positions of the group in an optional topic, asked for within 5 s at most: none if the topic does not exist, or no broker answers.
    func positions(ofOptional topic: String) -> [GroupPosition] {
        let limit = min(context.timeout, .seconds(5))
        guard case .existing(let count)? = try? admin.describe(topics: [topic], timeout: limit).topics.first else { return [] }
        return (try? positions(in: [(topic, count)], within: limit)) ?? []
    }

    /// Finds the positions in the topics of held and of large requests that no version known here wrote. Workers leave those, too.
    func unknownBeside() -> [(partition: TopicPartition, metadata: UnknownMetadata)] {
        let held = positions(ofOptional: terms.held).compactMap { position in
            position.unknownMetadata.map { (partition: position.partition, metadata: $0) }
        }
        let parents = positions(ofOptional: terms.parents).filter { !OpenParents.isKnown($0.metadata) }
        return held + parents.map { ($0.partition, UnknownMetadata($0.metadata, isOfParents: true)) }
    }

    /// The committed offsets of the group. The library searches the coordinator until time is up even if that is not allowed. The reason
    /// stands in its events alone.
    func committed(_ partitions: [TopicPartition], within limit: Duration) throws(KafkaError) -> [CommittedOffset] {
        let consumer = try Consumer(terms.kafka, groupID: terms.group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        do throws(KafkaError) {
            return try retrying { () throws(KafkaError) in try consumer.group.committed(partitions, timeout: limit) }
        } catch {
            while error.isTimeout, let event = consumer.nextEvent() {
                if case .error(let reason) = event, reason.isAuthorization { throw reason }
            }
            throw error
        }
    }

    /// Finds out where these partitions begin, as workers do, and those of held and of large requests as far as that is known.
    package func starts(among positions: [GroupPosition]) throws(KafkaError) -> GroupStarts {
        let all = positions + self.positions(ofOptional: terms.held) + self.positions(ofOptional: terms.parents)
        let consumer = try Consumer(terms.kafka, groupID: terms.group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        var limits = StartFinder.Limits(all: min(context.timeout, .seconds(5)))
        limits.answer = context.timeout
        let now = Timestamp(milliseconds: context.now())
        var finder = StartFinder(terms, group: consumer.group, limits: limits) { now }
        let starts = try retrying { () throws(KafkaError) in
            try finder.starts(
                of: all.map { CommittedOffset(partition: $0.partition, offset: $0.committed, metadata: $0.metadata) },
                behindCommit: Set(all.filter(\.isBeyondEnd).map(\.partition)))
        }
        return GroupStarts(all, starts, kind: terms.kind)
    }

    /// Finds the partitions that workers of this version leave, because a newer version wrote what comes next there. Publishers may give
    /// their records any header, so only pushfan's own records are checked.
    package func newer(among positions: [GroupPosition]) throws(KafkaError) -> [TopicPartition] {
        let fetcher = try RecordFetcher(terms.kafka, readAhead: 1 << 20)
        defer { fetcher.stop() }
        var newer: [TopicPartition] = []
        for position in positions where position.finished != nil && position.start < position.high {
            let isDelayed = terms.kind(of: position.partition.topic) == .delayed
            guard isDelayed || position.partition.topic == context.topics.requestsOwn,
                let record = try position.next(fetcher, timeout: context.timeout)
            else { continue }
            if RecordFormat.isNewer(record, of: isDelayed ? terms.group : nil) { newer.append(position.partition) }
        }
        return newer
    }
}
