package import Delivery
package import GroupPositions
package import JobSupport
package import Kafka
package import PushModel

/// Queries a consumer group, its positions and its starts from Kafka, without joining it. One call at a time.
package struct GroupExamination {
    /// The group, its topics and its brokers.
    package let terms: GroupTerms
    /// Asks Kafka.
    package let admin: TopicAdmin
    /// The brokers and topics.
    package let context: JobContext
    private let client = GroupClient()

    /// The group's positions in the topics of held and of large requests. A topic that does not exist, or cannot be asked about, has none.
    package struct Beside {
        /// Those in the topic of held requests.
        package let held: [GroupPosition]
        /// Those in the topic of large requests.
        package let parents: [GroupPosition]
    }

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
        let partitions = topics.flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        // Ends are asked for last: a request that moves to a delay lane meanwhile is then seen in both, and never in neither.
        let offsets = try committed(partitions, within: limit)
        let marks = try retrying { () throws(KafkaError) in try admin.watermarks(of: partitions, timeout: limit) }
        return zip(offsets, marks).map {
            GroupPosition($0.partition, low: $1.low, high: $1.high, committed: $0.offset, metadata: $0.metadata)
        }
    }

    /// Counts what waits in partitions, of which those with an open transaction are known only if `admin` sees the uncommitted.
    package func waiting(
        in positions: [GroupPosition], cancelled: StoppedRequests = StoppedRequests(), at now: Timestamp
    ) throws(KafkaError) -> [WaitingCount] {
        let reader = WaitingReader(of: terms.group, cancelled: cancelled)
        var counter = WaitingCounter(terms.kafka, reader: reader, timeout: context.timeout, now: now)
        return try counter.counts(in: positions, kind: terms.kind)
    }

    /// Queries the positions of the group in the topics of held and of large requests, within 5 s at most for each question.
    package func beside() -> Beside {
        let positions = positions(ofOptional: [terms.held, terms.parents])
        return Beside(
            held: positions.filter { $0.partition.topic == terms.held },
            parents: positions.filter { $0.partition.topic == terms.parents })
    }

    /// The positions in optional topics, all at once, or if that fails in each by itself.
    private func positions(ofOptional names: [String]) -> [GroupPosition] {
        let limit = min(context.timeout, .seconds(5))
        guard let found = try? admin.describe(topics: names, timeout: limit).topics else { return [] }
        let topics = zip(names, found).compactMap { name, description in
            if case .existing(let count) = description { (topic: name, partitionCount: count) } else { nil }
        }
        guard !topics.isEmpty else { return [] }
        do throws(KafkaError) {
            return try positions(in: topics, within: limit)
        } catch {
            guard topics.count > 1, !error.isUnreachable else { return [] }
            return topics.flatMap { (try? positions(in: [$0], within: limit)) ?? [] }
        }
    }

    /// Finds the positions in the topics of held and of large requests that no version known here wrote. Workers leave those, too.
    package func unknown(of beside: Beside) -> [(partition: TopicPartition, metadata: UnknownMetadata)] {
        let held = beside.held.compactMap { position in
            position.unknownMetadata.map { (partition: position.partition, metadata: $0) }
        }
        let parents = beside.parents.filter { !OpenParents.isKnown($0.metadata) }
        return held + parents.map { ($0.partition, UnknownMetadata($0.metadata, isOfParents: true)) }
    }

    /// The committed offsets of the group. The library searches the coordinator until time is up even if that is not allowed. The reason
    /// stands in its events alone.
    package func committed(_ partitions: [TopicPartition], within limit: Duration) throws(KafkaError) -> [CommittedOffset] {
        let consumer = try client.consumer(of: terms)
        do throws(KafkaError) {
            return try retrying { () throws(KafkaError) in try consumer.group.committed(partitions, timeout: limit) }
        } catch {
            while error.isTimeout, let event = consumer.nextEvent() {
                if case .error(let reason) = event, reason.isAuthorization { throw reason }
            }
            throw error
        }
    }

    /// Finds out where these partitions begin, as workers do, and those of held and of large requests.
    package func starts(among positions: [GroupPosition], beside: Beside) throws(KafkaError) -> GroupStarts {
        let all = positions + beside.held + beside.parents
        let consumer = try client.consumer(of: terms)
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
        let candidates = positions.filter { position in
            position.finished != nil && position.start < position.high
                && (isDelayed(position) || position.partition.topic == context.topics.requestsOwn)
        }
        guard !candidates.isEmpty else { return [] }
        let finished = candidates.map { Set($0.finishedOffsets) }
        var isNewer = candidates.map { _ in false }
        let parts = candidates.map { RangeReader.Part($0.partition, offsets: $0.start..<$0.high) }
        try RangeReader(terms.kafka).read(parts, timeout: context.timeout) { index, record in
            guard !finished[index].contains(record.offset) else { return true }
            isNewer[index] = RecordFormat.isNewer(record, of: isDelayed(candidates[index]) ? terms.group : nil)
            return false
        }
        return zip(candidates, isNewer).filter(\.1).map(\.0.partition)
    }

    private func isDelayed(_ position: GroupPosition) -> Bool { terms.kind(of: position.partition.topic) == .delayed }
}

/// The group's client, made with the first question, because some examinations have none.
private final class GroupClient {
    private var made: Consumer?

    func consumer(of terms: GroupTerms) throws(KafkaError) -> Consumer {
        if let made { return made }
        let consumer = try Consumer(terms.kafka, groupID: terms.group, wakeUpFileDescriptor: -1)
        made = consumer
        return consumer
    }
}
