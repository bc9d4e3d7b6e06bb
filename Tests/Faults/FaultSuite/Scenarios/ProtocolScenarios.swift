import FaultOracle

/// Single requests of Kafka's protocol that are lost, late, or lose their answer.
extension Catalogue {
    static let protocolScenarios = [endTransactionCut, offsetsCut, produceDelay, coordinatorSlow, answersSlow, heartbeatsLost]

    private static let endTransactionCut = cutting(
        "endtxn-cut", "a commit whose request or answer is lost is settled without another call and without a second result",
        [.endTransaction], rounds: 8
    ).with { $0.isFast = true }

    private static let offsetsCut = cutting(
        "offsets-cut", "nor is anything repeated when the offsets of a transaction are lost on their way",
        [.addOffsetsToTransaction, .transactionOffsetCommit], rounds: 6)

    /// Cuts requests of the kinds off in every way, one after the other.
    private static func cutting(_ name: String, _ claim: String, _ kinds: [KafkaProxy.Kind], rounds: Int) -> Scenario {
        Scenario(name, claim) { stage in
            guard let proxy = stage.broker.proxy else { throw SuiteError.failed("there is no proxy before the broker") }
            defer { proxy.clear() }
            for round in 0..<max(2, Int((Double(rounds) * stage.suite.scale).rounded())) {
                for kind in kinds {
                    let action: KafkaProxy.Action = round % 2 == 0 ? .cutBefore : .cutAfter
                    proxy.arm(action, to: kind, count: stage.random(1...4))
                    stage.note("\(kind): \(action)")
                    Clock.pause(.milliseconds(1500))
                    stage.watch.mark()
                }
            }
            for action in [KafkaProxy.Action.dropAnswer, .dropRequest] {
                guard let kind = kinds.last else { return }
                proxy.arm(action, to: kind, count: 1)
                stage.note("\(kind): \(action)")
                stage.beginOutage()
                Clock.pause(.seconds(3))
                stage.endOutage()
            }
            guard proxy.struckCount > 0 else { throw SuiteError.failed("no request passed the proxy") }
        }.with { scenario in
            scenario.isBehindProxy = true
            scenario.workload = Workload(8_000, rate: 300)
            scenario.deadline = .seconds(180)
        }
    }

    private static let produceDelay = Scenario("produce-delay", "results that are written slowly are written once") { stage in
        Clock.pause(.seconds(2))
        stage.broker.proxy?.arm(.delay(.milliseconds(1200)), to: .produce)
        stage.beginOutage()
        stage.pause(.seconds(15))
        stage.broker.proxy?.clear()
        stage.endOutage()
        stage.watch.mark()
    }.with { scenario in
        scenario.isBehindProxy = true
        scenario.workload = Workload(6_000, rate: 200)
    }

    private static let coordinatorSlow = Scenario(
        "coordinator-slow", "a transaction coordinator that takes its time costs time and nothing else"
    ) { stage in
        Clock.pause(.seconds(2))
        for kind in [KafkaProxy.Kind.addPartitionsToTransaction, .addOffsetsToTransaction, .endTransaction] {
            stage.broker.proxy?.arm(.delay(.milliseconds(700)), to: kind)
        }
        stage.beginOutage()
        stage.pause(.seconds(15))
        stage.broker.proxy?.clear()
        stage.endOutage()
        stage.watch.mark()
    }.with { scenario in
        scenario.isBehindProxy = true
        scenario.workload = Workload(6_000, rate: 200)
    }

    private static let answersSlow = Scenario(
        "answers-slow", "where each answer to a commit takes 0.6 s, a thousand results are written within 20 s of the first call"
    ) { stage in
        stage.publish()
        try Clock.wait(for: "the records to be published", within: .seconds(60)) { stage.isPublished }
        for kind in [
            KafkaProxy.Kind.produce, .addPartitionsToTransaction, .addOffsetsToTransaction, .transactionOffsetCommit,
            .endTransaction,
        ] { stage.broker.proxy?.arm(.delay(.milliseconds(600)), to: kind) }
        stage.note("the broker is slow")
        try stage.startCrew()
        stage.watch.mark()
    }.with { scenario in
        scenario.isBehindProxy = true
        scenario.isScaled = false
        scenario.startsCrew = false
        scenario.publishes = false
        scenario.workers = 1
        scenario.workload = .plain(1000, rate: nil)
        scenario.check = { _, evidence in
            let first = evidence.calls.map(\.at).min() ?? 0
            let last = evidence.results.map(\.at).max() ?? .max
            return [Finding(.writing, measured: Double(last - first), allowed: 20_000)]
        }
    }

    private static let heartbeatsLost = Scenario(
        "heartbeats-lost", "workers that the group gives up, although they live, write nothing that others write"
    ) { stage in
        for _ in 0..<max(1, Int((2 * stage.suite.scale).rounded())) {
            Clock.pause(.seconds(3))
            stage.broker.proxy?.arm(.dropRequest, to: .heartbeat)
            stage.beginOutage()
            Clock.pause(.seconds(13))
            stage.broker.proxy?.clear()
            stage.broker.proxy?.cutAll()
            stage.endOutage()
            stage.watch.mark()
            Clock.pause(.seconds(3))
        }
    }.with { scenario in
        scenario.isBehindProxy = true
        scenario.workload = Workload(10_000, rate: 250)
        scenario.deadline = .seconds(180)
    }
}
