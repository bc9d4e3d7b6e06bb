import FaultOracle
import Kafka
import PushModel

/// Holds: while one of a hub stands, no call to it is begun, whatever happens to workers and brokers, and afterwards everything is sent.
extension Catalogue {
    static let holdScenarios = [holdKill, holdBroker]

    /// The time that a hold may take to reach every worker, and a call that was in flight to end, milliseconds.
    private static let reach: Int64 = 1_500

    private static let holdKill = Scenario(
        "hold-kill", "nothing of a held hub is begun while workers are killed, and all of it is sent once released"
    ) { stage in
        Clock.pause(.seconds(5))
        let order = try hold(stage)
        for _ in 0..<4 {
            try replace(stage)
            stage.watch.mark()
        }
        try release(order, stage)
        // While the lanes are swept.
        for _ in 0..<2 { try replace(stage) }
        stage.watch.mark()
    }.with(common)

    private static let holdBroker = Scenario(
        "hold-broker",
        "nothing of a held hub is begun while a broker is killed and comes back, nor by a worker that starts meanwhile"
    ) { stage in
        Clock.pause(.seconds(5))
        let order = try hold(stage)
        Clock.pause(.seconds(3))
        try stage.killBroker()
        Clock.pause(.seconds(2))
        for worker in stage.crew.prefix(1) { worker.kill() }
        try stage.resumeBroker()
        for worker in stage.crew.prefix(1) { try worker.start() }
        Clock.pause(.seconds(10))
        try release(order, stage)
    }.with { scenario in
        common(&scenario)
        scenario.isFast = false
        scenario.broker = .own(settings: calmBroker)
        scenario.deadline = .seconds(240)
    }

    private static func common(_ scenario: inout Scenario) {
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 2
        scenario.hasSecondHub = true
        scenario.workload = Workload(6_000, rate: 200)
        scenario.workload.secondHubEvery = 3
        scenario.deadline = .seconds(180)
        scenario.check = { [begun($0, $1)] }
    }

    private static func hold(_ stage: Stage) throws -> OrderRecord {
        var scope = OrderScope()
        scope.hub = Workload.secondHub
        let order = OrderRecord(
            id: "h-\(stage.random(10_000_000...99_999_999))", kind: .hold, scope: scope, reason: "a test", author: "faults",
            since: Timestamp(milliseconds: Clock.now()))
        try write(order, stage)
        stage.note("the second hub is held")
        return order
    }

    private static func release(_ order: OrderRecord, _ stage: Stage) throws {
        let begin = order.since.milliseconds + reach
        stage.noteSecondHubOutage(begin...max(begin, Clock.now()))
        var order = order
        order.release = .init(at: Timestamp(milliseconds: Clock.now()), author: "faults")
        try write(order, stage)
        stage.note("the second hub is released")
    }

    private static func write(_ order: OrderRecord, _ stage: Stage) throws {
        let producer = try Producer(stage.kafka, transactionalID: nil, enqueueTimeout: .seconds(30))
        defer { producer.close(timeout: .zero) }
        let topic = try producer.warmUp(topics: [stage.topics.control], timeout: .seconds(20))[0]
        let (key, value) = (order.key, order.value)
        try producer.produce(to: topic, partition: OrderRecord.partition, key: key.span, value: value.span)
        try producer.flush(timeout: .seconds(30))
        if let error = producer.failedDeliveries.first { throw error }
    }

    /// Calls at the second hub while it was held, and a hub that got none before, which would show nothing.
    private static func begun(_ stage: Stage, _ evidence: Evidence) -> Finding {
        guard let span = stage.secondHubOutage else { return Finding(.holds, measured: 1, examples: ["no hold was released"]) }
        // A worker that starts asks each hub how it is, for no user.
        let calls = evidence.calls.filter { $0.isOfSecondHub && $0.user != nil }
        guard calls.contains(where: { $0.at < span.lowerBound }), calls.contains(where: { $0.at > span.upperBound }) else {
            return Finding(.holds, measured: 1, examples: ["the held hub got no call before, or none afterwards"])
        }
        let wrong = calls.filter { span.contains($0.at) }
        return Finding(
            .holds, measured: Double(wrong.count),
            examples: wrong.prefix(3).map { "user \($0.user ?? -1), \($0.at - span.lowerBound + reach) ms after the hold" })
    }
}
