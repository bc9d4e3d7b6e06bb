import Console
import Kafka

/// What a transaction costs that holds as many results as 30 ms bring at 2,000 requests a second.
struct TransactionRun {
    private static let recordCount = 64
    private static let rounds = 40
    private static let warmUpRounds = 4
    private static let value = [UInt8](repeating: UInt8(ascii: "x"), count: 900)

    let kafka: KafkaConfiguration
    let topic: String
    let name: String

    /// Makes transactions one after another. Returns the processor time of one in all threads of the client.
    func run() throws -> StageFigure {
        let producer = try Producer(kafka, transactionalID: name)
        defer { producer.close(timeout: .seconds(1)) }
        let topic = try producer.warmUp(topics: [topic], timeout: .seconds(10))[0]
        try producer.initTransactions(timeout: .seconds(30))
        var before = ProcessorTime()
        var lengths: [Double] = []
        for round in 0..<Self.rounds + Self.warmUpRounds {
            try Interruption.check()
            if round == Self.warmUpRounds { before = .ofProcess() }
            let start = ContinuousClock.now
            try producer.beginTransaction()
            for _ in 0..<Self.recordCount { try producer.produce(to: topic, key: nil, value: Self.value.span) }
            try producer.commitTransaction(timeout: .seconds(15))
            if round >= Self.warmUpRounds { lengths.append((ContinuousClock.now - start) / .milliseconds(1)) }
        }
        let used = ProcessorTime.ofProcess() - before
        let length = NumberText.text(Percentiles(lengths).value(0.5))
        return StageFigure(
            name: "transaction", part: .rare, what: "\(Self.recordCount) results, no offsets, all threads; takes \(length) ms",
            microseconds: Double(used.total) / 1000 / Double(Self.rounds),
            systemMicroseconds: Double(used.system) / 1000 / Double(Self.rounds), allocations: nil)
    }
}
