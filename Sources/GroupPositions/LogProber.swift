import Kafka

/// Asks where partitions begin and end, and finds out which of them have a leader that is away. Belongs to one thread.
final class LogProber {
    /// The time that a question may take which has not failed before.
    let limit: Duration
    /// The reason that the latest question had no answer, or nil while all had one.
    private(set) var failure: KafkaError?

    private let kafka: KafkaConfiguration
    /// The time that all partitions of a topic may take together. A leader that is away takes the whole of it, so later ones have less.
    private var allowance: Duration
    /// Made with the first question, because some have none.
    private var admin: TopicAdmin?

    init(_ kafka: KafkaConfiguration, limit: Duration) {
        self.kafka = kafka
        self.limit = limit
        allowance = limit
    }

    /// A client that sees open transactions, as a position may lie behind one.
    func connected() throws(KafkaError) -> TopicAdmin {
        if let admin { return admin }
        let made = try TopicAdmin(kafka, seesUncommitted: true)
        admin = made
        return made
    }

    /// The next offsets of partitions of a topic, in order: all are asked at once, and each by itself where that fails. Nil where
    /// the leader did not answer in time.
    func ends(of partitions: [Int32], in topic: String) throws(KafkaError) -> [Int64?] {
        let admin = try connected()
        do throws(KafkaError) {
            return try admin.ends(of: partitions, in: topic, timeout: allowance)
        } catch {
            guard error.isLeaderAway else { throw error }
            failure = error
            allowance = min(allowance, .seconds(1))
        }
        let deadline = ContinuousClock.now + .seconds(3)
        return partitions.map { partition in
            let left = min(allowance, deadline - .now)
            return left > .zero ? (try? admin.ends(of: [partition], in: topic, timeout: left))?.first : nil
        }
    }

    /// Asks for what probes of one topic, whose ends are known, need beside: the first offset that is retained, and the first one
    /// since a time in milliseconds since 1970, if it matters.
    func complete(_ probes: inout [PartitionProbe], since time: Int64?) throws(KafkaError) {
        guard let topic = probes.first?.partition.topic else { return }
        let admin = try connected()
        let lows = try admin.beginnings(of: probes.map(\.partition.partition), in: topic, timeout: limit)
        for (index, low) in lows.enumerated() { probes[index].low = low }
        let dated = probes.indices.filter { probes[$0].needsTime }
        guard let time, !dated.isEmpty else { return }
        let found = try admin.offsets(since: time, of: dated.map { probes[$0].partition.partition }, in: topic, timeout: limit)
        for (index, offset) in zip(dated, found) { probes[index].since = offset }
    }
}
