import Jobs
import Kafka
import PushModel
import Settings

/// The partitions that workers of this version leave, because a newer version wrote what comes next there.
enum NewerRecords {
    /// The remedy for an operator.
    static let remedy = "start workers of the version that wrote it; see `pushfan help upgrading`"

    /// Finds the partitions. Publishers may give their records any header, so only pushfan's own records are checked.
    ///
    /// - Parameters:
    ///   - positions: The positions of the group in partitions of its topics.
    ///   - settings: The topics' names, and the group's.
    ///   - configuration: The brokers.
    ///   - timeout: The time limit of each query.
    /// - Returns: Their names, in the order of the positions.
    /// - Throws: As `RecordFetcher.firstRecord` does.
    static func ask(
        among positions: [GroupPosition], _ settings: KafkaSettings, _ configuration: KafkaConfiguration, timeout: Duration
    ) throws(KafkaError) -> [TopicPartition] {
        let delays = Set(settings.topics.delays)
        let fetcher = try RecordFetcher(configuration, readAhead: 1 << 20)
        defer { fetcher.stop() }
        var newer: [TopicPartition] = []
        for position in positions where position.finished != nil && position.start < position.high {
            let isDelayed = delays.contains(position.partition.topic)
            guard isDelayed || position.partition.topic == settings.topics.requestsOwn,
                let record = try position.next(fetcher, timeout: timeout)
            else { continue }
            if RecordFormat.isNewer(record, of: isDelayed ? settings.groupID : nil) { newer.append(position.partition) }
        }
        return newer
    }

    /// The names of the partitions, and the reason for which nothing is read there, or nil without any.
    static func text(_ newer: [TopicPartition]) -> String? {
        guard !newer.isEmpty else { return nil }
        let names = newer.prefix(3).map { "\($0)" }.joined(separator: ", ")
        let rest = newer.count > 3 ? " and \(newer.count - 3) more" : ""
        return "a newer version wrote what comes next in \(names)\(rest): workers of this version leave it"
    }
}
