package import Delivery
package import Kafka
import PushModel

/// A topic that pushfan uses, and how it should be set up (page Requests).
package struct TopicRole: Sendable {
    /// The meaning of its records to workers.
    package enum Kind: Sendable {
        /// Requests of one lane.
        case requests
        /// Requests that wait in a delay lane.
        case delayed
        /// Requests with ordering keys that wait, which the owner of their partition of requests reads beside it.
        case held
        /// Large requests, which the group's members count.
        case parents
        /// Records that every worker reads by itself: cancellations, and announcements of the fleet's members.
        case common
        /// Nothing that they read.
        case other
    }

    /// The purpose of the topic.
    package let role: String
    /// Its name.
    package let name: String
    /// The retention of records, or nil for as long as they are not deleted.
    package let days: Int?
    /// The fewest bytes that a record must be allowed to have.
    let recordByteCount: Int
    /// Of records with one key only the newest has to be kept.
    var isCompacted = false
    /// Records must stand in one order, hence in one partition.
    var hasOnePartition = false
    /// One partition is enough for its records, and more do no harm.
    var isSmall = false
    /// For each partition of a topic of requests it has so many, because it has one for each lane.
    var multiple = 1
    /// Records are of no use a second after they were written.
    package private(set) var isPassing = false
    /// People look back in it for the whole of its retention, although no worker needs that.
    var isLookedBackIn = false
    /// The bytes of a topic beyond which its records go. 64 MiB are a day of what passes.
    package private(set) var mostBytes = 67_108_864
    /// Brokers give its records their time, so that machines whose clocks differ agree on it.
    var hasBrokerTime = false
    /// True if outdated records are compacted early (`min.cleanable.dirty.ratio`).
    var isCleanedEarly = false
    /// The hours after which a segment is no longer written to, or nil for the broker's own choice.
    var segmentHours: Int?
    /// Orders stand in it, which no broker may delete before they end.
    var holdsOrders = false
    /// Everything but `pushfan callbacks` works without it.
    package var isOptional = false
    /// The meaning of its records to workers.
    package private(set) var kind = Kind.other

    /// True if workers read it as members of their group.
    package var isShared: Bool { kind == .requests || kind == .delayed }
    /// True if pushfan writes it. Publishers write the others.
    package var isWritten: Bool { kind != .requests || role == "requests-own" }
    /// True if its records have to be uncompressed, because publishers write it. A reader's library unpacks a whole batch before
    /// the worker can check it, and 1 MB of gzip may hold 1 GB. If the topic requires it, brokers unpack each batch, compare its
    /// size with `max.message.bytes` again, and refuse it (Kafka, `UnifiedLog.append`, `LogValidator`:
    /// `messageSizeMaybeChanged`).
    var isUncompressed: Bool { !isWritten || role == "control" }
    /// True if workers read it.
    package var isRead: Bool { kind != .other }

    /// The largest record that any of them gets.
    static var largestRecordByteCount: Int { RequestReader.maximumRecordByteCount }

    /// The topics in use, under the given names.
    package static func all(_ topics: Topics) -> [TopicRole] {
        let record = RequestReader.maximumRecordByteCount
        // A value of 4,096 bytes, its key, and the batch around them.
        let smallRecord = 8192
        // Records of delay lanes go on within an hour. The longer retention is for a fleet that is down for days.
        let delays = zip(DelayLanes.names, topics.delays).map {
            TopicRole(role: "delay-\($0)", name: $1, days: 7, recordByteCount: record, kind: .delayed)
        }
        return [
            TopicRole(role: "requests", name: topics.requests, days: 7, recordByteCount: record, kind: .requests),
            TopicRole(role: "requests-high", name: topics.requestsHigh, days: 7, recordByteCount: record, kind: .requests),
            TopicRole(role: "requests-bulk", name: topics.requestsBulk, days: 7, recordByteCount: record, kind: .requests),
            TopicRole(role: "requests-own", name: topics.requestsOwn, days: 7, recordByteCount: record, kind: .requests),
        ] + delays + [
            // Requests that wait for longer than half a day are written again.
            TopicRole(
                role: "held", name: topics.held, days: 7, recordByteCount: record, multiple: 3, kind: .held),
            // Kept until the last part has ended, however long that takes. Small segments, so that what is deleted soon is gone.
            TopicRole(
                role: "parents", name: topics.parents, days: nil, recordByteCount: record / 8, isCompacted: true,
                isCleanedEarly: true, kind: .parents),
            TopicRole(role: "results", name: topics.results, days: 14, recordByteCount: record / 2),
            TopicRole(role: "deadletter", name: topics.deadLetters, days: 30, recordByteCount: record),
            // Longer than anything that a record can concern is kept, and than an order stands. Workers forget cancellations after the same
            // time. An order has its scope in its key, and the value has its release.
            TopicRole(
                role: "control", name: topics.control, days: Int(Cancellations.lifetime / 86_400_000),
                recordByteCount: OrderRecord.maximumKeyByteCount + smallRecord, isCompacted: true, hasOnePartition: true,
                holdsOrders: true, kind: .common),
            TopicRole(role: "handles", name: topics.handles, days: 30, recordByteCount: 16_384),
            TopicRole(
                role: "shares", name: topics.shares, days: 1, recordByteCount: 4096, hasOnePartition: true, isPassing: true,
                kind: .common),
            // Texts of at most 64 KiB. Whole segments are removed, so what is older than a day is gone an hour or so later.
            TopicRole(role: "secure", name: topics.secure, days: 1, recordByteCount: record / 8, segmentHours: 1),
            TopicRole(
                role: "replays", name: topics.replays, days: 30, recordByteCount: record, isCompacted: true,
                hasOnePartition: true),
            // Each worker writes its newest report again every second, so that neither an old one nor a lost one matters.
            TopicRole(
                role: "status", name: topics.status, days: 1, recordByteCount: smallRecord, isCompacted: true, isSmall: true,
                isPassing: true, hasBrokerTime: true, isCleanedEarly: true, segmentHours: 1),
            // A gateway writes its minute every 10 s, 10 MB a day, and some incidents: 512 MiB are 14 days of three.
            TopicRole(
                role: "history", name: topics.history, days: 14, recordByteCount: smallRecord, isSmall: true, isPassing: true,
                isLookedBackIn: true, mostBytes: 536_870_912, segmentHours: 24),
        ] + callbacks(topics)
    }

    /// The topics of `pushfan callbacks` and its commands.
    private static func callbacks(_ topics: Topics) -> [TopicRole] {
        let record = RequestReader.maximumRecordByteCount
        return [
            // A paused receiver stays so until someone lets it go on.
            TopicRole(
                role: "callbacks", name: topics.callbacks, days: nil, recordByteCount: 8192, isCompacted: true, isSmall: true,
                isCleanedEarly: true, isOptional: true),
            TopicRole(
                role: "callbacks-deadletter", name: topics.callbackDeadLetters, days: 30, recordByteCount: record,
                isOptional: true),
            TopicRole(
                role: "callbacks-replay", name: topics.callbackReplays, days: 14, recordByteCount: record, isOptional: true),
        ]
    }

    /// The number of partitions that it gets when `count` are requested.
    package func partitionCount(_ count: Int) -> Int { hasOnePartition || isSmall ? 1 : count * multiple }

    /// The topic as it is created when `count` partitions are requested for topics of requests.
    package func topic(partitions count: Int, replication: Int) -> NewTopic {
        let policy = !isCompacted ? "delete" : days == nil ? "compact" : "compact,delete"
        var properties = [KafkaConfiguration.Property(key: "cleanup.policy", value: policy)]
        if let days { properties.append(.init(key: "retention.ms", value: String(days * 86_400_000))) }
        // Only a segment that is no longer written to is compacted or goes.
        if isCompacted || isPassing { properties.append(.init(key: "segment.bytes", value: "16777216")) }
        if let segmentHours { properties.append(.init(key: "segment.ms", value: String(segmentHours * 3_600_000))) }
        if hasBrokerTime { properties.append(.init(key: "message.timestamp.type", value: "LogAppendTime")) }
        if isCleanedEarly { properties.append(.init(key: "min.cleanable.dirty.ratio", value: "0.1")) }
        if isUncompressed { properties.append(.init(key: "compression.type", value: "uncompressed")) }
        if isPassing { properties.append(.init(key: "retention.bytes", value: String(mostBytes))) }
        if replication >= 3 { properties.append(.init(key: "min.insync.replicas", value: "2")) }
        return NewTopic(
            name: name, partitionCount: partitionCount(count), replicationFactor: replication, configuration: properties)
    }

    /// The fault of a retention by which brokers may delete an order that stands, or nil where they may not. Settings that limit nothing are
    /// negative.
    ///
    /// - Parameters:
    ///   - milliseconds: The retention of records, if it is known.
    ///   - bytes: The size beyond which brokers delete records, if it is known.
    ///   - policy: The cleanup policy, if it is known. Brokers delete where none is set.
    /// - Returns: The setting, the value that it should have, and the fault in words.
    func faultOfOrders(milliseconds: Int?, bytes: Int?, policy: String?) -> (setting: String, value: String, text: String)? {
        guard holdsOrders, let days, policy?.contains("delete") ?? true else { return nil }
        let least = days * 86_400_000
        if let milliseconds, (0..<least).contains(milliseconds) {
            return (
                "retention.ms", "\(least)",
                "retention.ms is \(milliseconds): orders that stand are deleted; it has to be \(least)"
            )
        }
        guard let bytes, bytes >= 0 else { return nil }
        return ("retention.bytes", "-1", "retention.bytes is \(bytes): a flood deletes orders that stand; it has to be -1")
    }

    /// The faults of the topic's settings that would lose or refuse records.
    func problems(_ settings: [TopicSetting]) -> [String] {
        func value(_ name: String) -> String? { settings.first { $0.name == name }?.value }
        let orders = faultOfOrders(
            milliseconds: value("retention.ms").flatMap { Int($0) }, bytes: value("retention.bytes").flatMap { Int($0) },
            policy: value("cleanup.policy"))
        var problems = orders.map { [$0.text] } ?? []
        for setting in settings {
            guard let value = setting.value else { continue }
            switch setting.name {
            case "cleanup.policy" where value.contains("compact") && !isCompacted:
                problems.append("cleanup.policy is \(value): compaction removes records")
            case "cleanup.policy" where value.contains("delete") && days == nil:
                problems.append("cleanup.policy is \(value): what waits for long is deleted; it has to be compact")
            case "max.message.bytes":
                if let limit = Int(value), limit < recordByteCount {
                    problems.append("max.message.bytes is \(value): records may have \(recordByteCount)")
                }
            default: break
            }
        }
        return problems
    }
}
