import Delivery
import Jobs
import Kafka
import PushModel
import Settings

/// The partitions that workers do not read before an operator says where the group begins, as it has no position there.
enum RefusedStarts {
    /// What says so; requests that have a result are not repeated.
    static let command = "pushfan group start --at finished"

    /// What says so where the group has positions that tell nothing.
    ///
    /// - Parameter partitions: Where the positions are; three of them are named.
    /// - Returns: A command line.
    static func replacement(of partitions: [TopicPartition]) -> String {
        let names = partitions.prefix(3).map { "\($0.topic):\($0.partition)" }.joined(separator: " ")
        return "\(command) --replace \(names)" + (partitions.count > 3 ? " ..." : "")
    }

    /// Asks which they are.
    ///
    /// - Parameters:
    ///   - positions: Where the group stands in every partition of its topics.
    ///   - settings: The topics' names, and what workers do where the group has no position.
    ///   - now: Milliseconds since 1970.
    ///   - admin: Asks for offsets.
    ///   - configuration: The brokers.
    ///   - timeout: How long each question may take.
    /// - Returns: Those in which something waits.
    /// - Throws: As `TopicAdmin.watermarks` and `RecordFetcher.firstRecord` do.
    static func ask(
        among positions: [GroupPosition], _ settings: KafkaSettings, now: Int64, _ admin: TopicAdmin,
        _ configuration: KafkaConfiguration, timeout: Duration
    ) throws(KafkaError) -> [GroupPosition] {
        guard settings.start == .safe, let time = settings.start.time(now: Timestamp(milliseconds: now)) else { return [] }
        var refused: [GroupPosition] = []
        for role in TopicRole.all(settings.topics) where role.kind == .requests {
            let topic = positions.filter { $0.partition.topic == role.name }
            guard topic.contains(where: { $0.committed == nil && $0.low < $0.high }) else { continue }
            let young = try FreshTopics.retrying { () throws(KafkaError) -> [Int64?] in
                try admin.offsets(
                    since: time.milliseconds, ofTopic: role.name, partitionCount: topic.count, timeout: timeout)
            }
            refused += Self.refused(of: topic, young: young)
        }
        // It has no consumer of its own. Without it the rest is worth knowing.
        let held = GroupPosition.known(of: settings.groupID, in: settings.topics.held, admin, configuration, timeout: timeout)
        return try refused + waiting(among: positions + held, settings, now: now, configuration, timeout: timeout)
    }

    /// The partitions of requests that wait in which the group has no position, and may have sent something, as workers see it.
    private static func waiting(
        among positions: [GroupPosition], _ settings: KafkaSettings, now: Int64, _ configuration: KafkaConfiguration,
        timeout: Duration
    ) throws(KafkaError) -> [GroupPosition] {
        let topics = settings.topics.delays + [settings.topics.held]
        let open = positions.filter { topics.contains($0.partition.topic) && $0.committed == nil && $0.low < $0.high }
        guard !open.isEmpty else { return [] }
        let fetcher = try RecordFetcher(configuration, readAhead: 1 << 20)
        defer { fetcher.stop() }
        var refused: [GroupPosition] = []
        for position in open {
            let lane = settings.topics.delays.firstIndex(of: position.partition.topic)
            let mayBeFinished = try mayBeFinished(
                position, in: lane, of: settings.groupID, now: now, fetcher, timeout: min(timeout, .seconds(5)))
            let decision = StartRule.safe.decision(
                low: position.low, high: position.high, since: nil, by: .workers(mayBeFinished: mayBeFinished))
            if decision == .refused { refused.append(position) }
        }
        return refused
    }

    /// Whether a worker may have gone on with the group's first record in a partition; where none comes in time, it may.
    private static func mayBeFinished(
        _ position: GroupPosition, in lane: Int?, of group: String, now: Int64, _ fetcher: RecordFetcher, timeout: Duration
    ) throws(KafkaError) -> Bool {
        var offset = position.low
        let deadline = ContinuousClock.now + timeout
        while offset < position.high {
            guard ContinuousClock.now < deadline else { return true }
            guard let record = try fetcher.firstRecord(from: offset, of: position.partition, timeout: timeout) else {
                return false
            }
            let headers = OwnHeaders.of(record)
            if headers["pushfan-group"] == group {
                return WaitingCopies.mayHaveGoneOn(headers, in: lane, written: record.timestamp, now: now)
            }
            offset = record.offset + 1
        }
        return false
    }

    /// The partitions of one topic that `safe` refuses, and in which something waits.
    ///
    /// - Parameters:
    ///   - topic: All partitions, in the order of their numbers.
    ///   - young: The first offset of each that is young enough; nil where none is.
    /// - Returns: Some of them, in order.
    static func refused(of topic: [GroupPosition], young: [Int64?]) -> [GroupPosition] {
        let partitions = zip(topic, young).map {
            StartRule.Partition(low: $0.low, high: $0.high, since: $1, hasPosition: $0.committed != nil)
        }
        return zip(topic, StartRule.safe.decisions(in: partitions)).compactMap { position, decision in
            decision == .refused && position.low < position.high ? position : nil
        }
    }

    /// Which they are, and why nothing is read there; nil without any.
    static func text(_ refused: [GroupPosition]) -> String? {
        guard !refused.isEmpty else { return nil }
        let names = refused.prefix(3).map { "\($0.partition) (\($0.lag) wait)" }.joined(separator: ", ")
        let rest = refused.count > 3 ? " and \(refused.count - 3) more" : ""
        return
            "the group has no position in \(names)\(rest); requests wait there for more than ten minutes, or may have been sent:"
            + " workers leave these partitions until you say where the group begins"
    }
}
