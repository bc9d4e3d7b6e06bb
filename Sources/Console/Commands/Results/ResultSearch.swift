import Kafka
import Settings

/// Looks for results backwards in time: first in the last minutes, then further back, until enough are found.
struct ResultSearch {
    /// Topics with fewer records than this are read as a whole at once.
    private static let smallCount: Int64 = 50_000
    /// How far back to look, one after another, before everything is read.
    private static let windows: [Int64] = [300_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000]

    let settings: Settings
    let filter: ResultFilter
    /// How many of the newest are wanted.
    let limit: Int
    /// The oldest moment that is looked at; nil for all that is kept.
    let since: Int64?
    let now: Int64
    let timeout: Duration

    /// The newest results that match, oldest first.
    ///
    /// - Throws: The topic cannot be read, or not to its end in time.
    func run() throws(KafkaError) -> [ResultRecord] {
        if let since { return try collect(from: .time(since)) }
        let reader = try open(.beginning)
        defer { reader.close() }
        guard reader.remainingCount > Self.smallCount else { return try collect(reader) }
        for window in Self.windows {
            let found = try collect(from: .time(now - window))
            if found.count >= limit { return found }
        }
        return try collect(reader)
    }

    private func open(_ start: TopicReader.Start) throws(KafkaError) -> TopicReader {
        try TopicReader(
            settings.kafkaConfiguration(), topic: settings.kafka.topics.results, start: start, timeout: timeout)
    }

    private func collect(from start: TopicReader.Start) throws(KafkaError) -> [ResultRecord] {
        let reader = try open(start)
        defer { reader.close() }
        return try collect(reader)
    }

    /// Reads to the ends that the partitions had at the start. Time counts only while nothing comes.
    private func collect(_ reader: TopicReader) throws(KafkaError) -> [ResultRecord] {
        var found: [ResultRecord] = []
        var deadline = Deadline(after: timeout)
        while !reader.hasReachedEnd && !Interruption.isRequested {
            let result = reader.read(timeout: deadline.step) { record in
                guard let result = ResultRecord(record), filter.matches(result) else { return }
                found.append(result)
            }
            switch result {
            case .record, .endOfPartition: deadline = Deadline(after: timeout)
            case .error(let error) where error.isAuthorization || error.isFatal: throw error
            case .error(let error) where deadline.hasPassed: throw error
            case .error, .empty:
                if deadline.hasPassed { return newest(found) }
            }
            if found.count >= limit * 4 && found.count >= 4096 { found = newest(found) }
        }
        return newest(found)
    }

    private func newest(_ records: [ResultRecord]) -> [ResultRecord] {
        let ordered = records.sorted { ($0.timestamp, $0.partition, $0.offset) < ($1.timestamp, $1.partition, $1.offset) }
        return Array(ordered.suffix(limit))
    }
}
