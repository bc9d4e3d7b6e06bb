import Delivery
import Jobs
import Kafka
import PushModel
import ResultQuery
import Settings

/// The place at which a group without a position begins.
enum StartPlace: Equatable {
    case beginning
    case end
    /// With the first record of which it is not known that workers are done with it.
    case finished
    /// With the first record that is not older, milliseconds since 1970.
    case moment(Int64)

    /// Reads a word, a moment, or how long ago it was: `15m`, `now-15m`.
    ///
    /// - Parameters:
    ///   - text: The text as it was typed.
    ///   - now: Milliseconds since 1970.
    init?(_ text: String, now: Int64) {
        switch text {
        case "beginning": self = .beginning
        case "end": self = .end
        case "finished": self = .finished
        default:
            let isLength = text.hasPrefix("now-")
            let words = isLength ? String(text.dropFirst("now-".count)) : text
            guard !isLength || TimeWords.milliseconds(words) != nil,
                let moment = TimeWords.moment(words, now: now, isPast: true)
            else { return nil }
            self = .moment(moment.milliseconds)
        }
    }

    /// The rule of workers (`kafka.start`) that begins at the same place, or nil of `finished`.
    var rule: StartRule? {
        switch self {
        case .beginning: .beginning
        case .end: .end
        case .finished: nil
        case .moment(let moment): .moment(Timestamp(milliseconds: moment))
        }
    }

    /// The offset of this place in a partition, decided by that rule.
    ///
    /// - Parameters:
    ///   - position: The partition.
    ///   - since: The first offset that is not older than a moment, or nil when all are older.
    /// - Returns: The offset, or nil of `finished`.
    func offset(in position: GroupPosition, since: Int64?) -> Int64? {
        guard case .offset(let offset) = rule?.decision(low: position.low, high: position.high, since: since) else { return nil }
        return min(max(offset, position.low), position.high)
    }
}

/// Sets the start of a group in partitions of requests, of waiting requests, and of large requests.
///
/// The group must have no members, so nothing moves during the search.
struct GroupStart {
    /// The position of one partition.
    struct Row {
        let partition: TopicPartition
        let commit: LedgerCommit
        /// The records in front of the position, and those behind it that will be sent. Where they were not read, ends of transactions
        /// count as well.
        var before: Int64
        var after: Int64
        /// The records behind the position that are finished and will not be repeated.
        var finished: Int64 = 0
        /// The records behind it that are finished and will be repeated, because the position's metadata has no room for them.
        var repeated: Int64 = 0
        /// True if large requests are counted, whose one result is written or not.
        var isOfParents = false
    }

    let invocation: Invocation
    let settings: Settings
    /// The time limit of each query.
    let timeout: Duration

    private var group: String { settings.kafka.groupID }
    private var configuration: KafkaConfiguration { settings.kafkaConfiguration() }

    /// The group's members. While there are any, nothing must be written.
    func memberCount() throws(CommandFailure) -> Int {
        try asking("ask who is in the group") { () throws(KafkaError) -> Int in
            let admin = try TopicAdmin(configuration)
            return try FreshTopics.retrying { () throws(KafkaError) -> GroupDescription in
                try admin.describe(group: group, timeout: timeout)
            }.members.count
        }
    }

    /// The topics of requests.
    var requestTopics: Set<String> {
        Set(TopicRole.all(settings.kafka.topics).filter { $0.kind == .requests }.map(\.name))
    }

    /// The positions of the group in every partition of the topics of requests, of waiting requests and of large requests, in the
    /// order of the topics.
    func positions() throws(CommandFailure) -> [GroupPosition] {
        let topics = try existing { $0.kind != .common && $0.kind != .other }
            .map { (topic: $0.role.name, partitionCount: $0.partitionCount) }
        return try asking("ask where the group stands") { () throws(KafkaError) -> [GroupPosition] in
            try GroupPosition.all(of: group, in: topics, TopicAdmin(configuration), configuration, timeout: timeout)
        }
    }

    /// Finds out where the group begins in some partitions.
    ///
    /// - Parameters:
    ///   - place: The place that was requested.
    ///   - chosen: The partitions.
    ///   - all: Every partition of their topics.
    /// - Returns: A row for each, in the same order.
    /// - Throws: Brokers do not answer, or topics cannot be read to their ends.
    func rows(
        _ place: StartPlace, for chosen: [GroupPosition], of all: [GroupPosition]
    ) throws(CommandFailure) -> [Row] {
        guard let rule = place.rule else { return try finishedRows(for: chosen, of: all) }
        let time = rule.time(now: Timestamp(milliseconds: invocation.surroundings.now()))?.milliseconds
        return try asking("look for the first requests since then") { () throws(KafkaError) -> [Row] in
            let admin = try TopicAdmin(configuration)
            var rows: [Row] = []
            for position in chosen {
                var since: Int64?
                if let time { since = try admin.offset(since: time, in: position.partition, timeout: timeout) }
                if let offset = place.offset(in: position, since: since) { rows.append(row(position, at: offset)) }
            }
            return rows
        }
    }

    /// A row for a partition of which nothing more is known than where it begins.
    private func row(_ position: GroupPosition, at offset: Int64) -> Row {
        let isOfParents = isOfParents(position.partition)
        return Row(
            partition: position.partition, commit: Self.commit(at: offset, of: position, isOfParents: isOfParents),
            before: offset - position.low, after: position.high - offset, isOfParents: isOfParents)
    }

    /// The position by which a partition begins at an offset.
    static func commit(at offset: Int64, of position: GroupPosition, isOfParents: Bool) -> LedgerCommit {
        isOfParents
            ? OpenParents(start: offset, unknownBefore: position.high).commit() : LedgerCommit(offset: offset, end: position.high)
    }

    private func isOfParents(_ partition: TopicPartition) -> Bool { partition.topic == settings.kafka.topics.parents }

    private func finishedRows(for chosen: [GroupPosition], of all: [GroupPosition]) throws(CommandFailure) -> [Row] {
        let scan = ResultAnswers(invocation.jobContext(settings, timeout: timeout)).scan
        let places = try gather(chosen, scan)
        var starts: [TopicPartition: FinishedStart] = [:]
        for position in chosen { starts[position.partition] = FinishedStart() }
        for role in TopicRole.all(settings.kafka.topics)
        where role.kind != .parents && chosen.contains(where: { $0.partition.topic == role.name }) {
            let topic = all.filter { $0.partition.topic == role.name }
            // Of partitions that were not chosen nothing is read.
            let first = topic.map { ($0.partition.partition, starts[$0.partition] == nil ? $0.high : $0.low) }
            let last = topic.map { ($0.partition.partition, $0.high) }
            try read(
                scan.of(role.name), .offsets(Dictionary(uniqueKeysWithValues: first)),
                .offsets(Dictionary(uniqueKeysWithValues: last))
            ) { record in
                let partition = TopicPartition(topic: role.name, partition: record.partition)
                guard let isFinished = isFinished(record, of: partition, role, places) else { return }
                starts[partition]?.add(record.offset, publishedAt: record.timestamp, isFinished: isFinished)
            }
        }
        return chosen.map { position in
            if let outcome = places.wholes.outcome(of: position.partition) { return Row(position.partition, outcome) }
            let start = starts[position.partition] ?? FinishedStart()
            return Row(
                partition: position.partition, commit: start.commit(end: position.high), before: Int64(start.passedCount),
                after: Int64(start.waitingCount + start.repeatedCount), finished: Int64(start.aheadCount),
                repeated: Int64(start.repeatedCount))
        }
    }

    /// Reads a part of a topic.
    private func read(
        _ scan: TopicScan, _ start: TopicReader.Start, _ stop: TopicReader.Stop, _ body: (borrowing ConsumedRecord) -> Void
    ) throws(CommandFailure) {
        try invocation.perform(settings) { () throws(JobFailure) in
            let reader = try scan.open(start, stop)
            defer { reader.close() }
            try scan.read(reader, body)
        }
    }

    /// True if workers are done with a record, or nil for another group's record, which waits for nothing of ours.
    private func isFinished(
        _ record: borrowing ConsumedRecord, of partition: TopicPartition, _ role: TopicRole, _ places: FinishedPlaces
    ) -> Bool? {
        if role.kind == .requests { return places.contains(record.offset, of: partition, publishedAt: record.timestamp) }
        let headers = OwnHeaders.of(record)
        let mayHaveGoneOn = WaitingCopies.mayHaveGoneOn(
            headers, in: settings.kafka.topics.delays.firstIndex(of: role.name), written: record.timestamp,
            now: invocation.surroundings.now())
        return places.copies.isDone(headers, at: partition, record.offset, mayHaveGoneOn: mayHaveGoneOn)
    }

    /// Reads from the records of workers which requests they are done with.
    private func gather(_ chosen: [GroupPosition], _ scan: TopicScan) throws(CommandFailure) -> FinishedPlaces {
        var places = FinishedPlaces(of: chosen, group: group, parents: settings.kafka.topics.parents)
        let told = try existing { role in
            // Records of our own requests count for these requests alone.
            FinishedPlaces.areTold(by: role)
                || role.kind == .requests && role.isWritten
                    && chosen.contains { $0.partition.topic == role.name }
        }
        guard told.contains(where: { $0.role.role == "results" }) else {
            throw CommandFailure(
                .failed, "there is no topic \(Sanitised.quoted(scan.topic)), which would say what is finished",
                hint: "--at beginning sends everything")
        }
        let waiting = told.filter { $0.role.kind == .delayed || $0.role.kind == .held }
        let others = told.filter { $0.role.kind != .delayed && $0.role.kind != .held }
        for (role, _) in waiting + others {
            try read(scan.of(role.name), .beginning, .end) { record in places.take(record, of: role) }
        }
        guard !places.isNewer else {
            throw CommandFailure(
                .failed, "a newer version wrote some of what is finished, which this one cannot read",
                hint: "use the version that wrote it")
        }
        places.close()
        return places
    }

    /// The existing topics, with their numbers of partitions.
    private func existing(
        where isWanted: (TopicRole) -> Bool
    ) throws(CommandFailure) -> [(role: TopicRole, partitionCount: Int)] {
        let roles = TopicRole.all(settings.kafka.topics).filter(isWanted)
        let found = try asking("ask about the topics") { () throws(KafkaError) -> [TopicDescription] in
            try TopicAdmin(configuration).describe(topics: roles.map(\.name), timeout: timeout).topics
        }
        var topics: [(role: TopicRole, partitionCount: Int)] = []
        for (role, description) in zip(roles, found) {
            switch description {
            case .existing(let count): topics.append((role, count))
            case .missing: continue
            case .failed(let error): throw invocation.failure(error, settings.kafka, to: "read \(role.name)")
            }
        }
        return topics
    }

    /// Writes all positions, or none.
    func write(_ rows: [Row]) throws(CommandFailure) {
        try asking("write where the group begins") { () throws(KafkaError) -> Void in
            let session = try TransactionalSession(
                configuration, id: "pushfan-start-\(group)", timeout: timeout, isCancelled: { Interruption.isRequested })
            try session.fence()
            let offsets = rows.map { OffsetCommit($0.partition, offset: $0.commit.offset, metadata: $0.commit.metadata) }
            try session.transact { () throws(KafkaError) in
                try session.producer.sendOffsets(offsets, group: GroupMetadata(withoutMembers: group), timeout: timeout)
            }
        }
    }

    private func asking<Value>(
        _ action: String, _ question: () throws(KafkaError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(KafkaError) {
            return try question()
        } catch {
            throw invocation.failure(error, settings.kafka, to: action)
        }
    }
}

extension GroupStart.Row {
    /// A row for a partition of large requests.
    init(_ partition: TopicPartition, _ outcome: ParentsStart.Outcome) {
        self.init(
            partition: partition, commit: outcome.commit, before: Int64(outcome.passedCount),
            after: Int64(outcome.waitingCount + outcome.repeatedCount), finished: Int64(outcome.aheadCount),
            repeated: Int64(outcome.repeatedCount), isOfParents: true)
    }
}
