import Kafka
import Replay
import ResultQuery

/// Counts the records that could not be understood, and were not given back since.
struct DeadLetterCount {
    /// So many are read; of more it is said how many there may be.
    private static let readLimit: Int64 = 10_000

    private let topic: String
    private let times: ResultFilter
    private let history: ReplayHistory

    /// - Parameters:
    ///   - topic: The topic of dead letters.
    ///   - times: When they were written.
    ///   - history: What was given back, as the jobs tell it.
    init(_ topic: String, _ times: ResultFilter, _ history: ReplayHistory) {
        self.topic = topic
        self.times = times
        self.history = history
    }

    /// Says in a line how many there are, and what lists them; nothing where there is none.
    ///
    /// - Throws: The topic cannot be read, although it is allowed.
    func say(_ scan: ResultScan, _ streams: Streams) throws(CommandFailure) {
        do throws(CommandFailure) {
            guard let (count, isExact) = try count(scan.of(topic)), count > 0 else { return }
            let number = isExact ? "" : "at most "
            let letters = Counted.text(count, "dead letter, which was not understood", "dead letters, which were not understood")
            streams.note("\(number)\(letters): `pushfan replay deadletter --dry-run` lists them and says how to give them back")
        } catch {
            guard error.code == .notAllowed else { throw error }
            streams.note("dead letters are not counted: \(error.message)")
        }
    }

    private func count(_ scan: ResultScan) throws(CommandFailure) -> (count: Int64, isExact: Bool)? {
        let start: TopicReader.Start = times.since.map { .time($0) } ?? .beginning
        guard let reader = try scan.openIfThere(start, BackwardScan.stop(times)) else { return nil }
        defer { reader.close() }
        // Workers write by transactions, whose ends take an offset each.
        guard reader.remainingCount <= Self.readLimit else { return (reader.remainingCount, false) }
        var count: Int64 = 0
        try scan.read(reader) { record in
            let place = RecordPlace(topic: topic, partition: record.partition, offset: record.offset)
            if times.covers(record.timestamp ?? 0), history.replayed(place).isEmpty { count += 1 }
        }
        return (count, true)
    }
}
