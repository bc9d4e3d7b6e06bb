import FaultOracle

/// Publishing over HTTP on bad days: 202 means that Kafka has it, 503 that it has not, and a key means once.
///
/// Workers start when everything is published: what is judged here is what a gateway says and writes.
extension Catalogue {
    static let gatewayScenarios = [gatewayKill, twoGateways, slowBroker, slowSenders]
    /// Those that have brokers of their own.
    static let gatewayBrokerScenarios = [
        gatewayBrokerKill, gatewayBrokerStop, gatewayLeaderless, answersDiskFull, certainOrNot,
    ]

    /// A client gives a record up after 5 s (`message.timeout.ms`); a broker is away for longer.
    private static let absence = Duration.milliseconds(5500)

    static func overHTTP(
        _ name: String, _ claim: String, _ load: HTTPLoad, expecting statuses: [Int], within limit: Duration = .seconds(240),
        harm: @escaping @Sendable (Stage, GatewayCrew) throws -> Void
    ) -> Scenario {
        Scenario(name, claim) { try $0.publishOverHTTP(within: limit, expecting: statuses, while: harm) }.with { scenario in
            scenario.overHTTP = load
            scenario.isScaled = false
            scenario.startsCrew = false
            scenario.publishes = false
            scenario.workers = 2
            scenario.deadline = limit + .seconds(120)
            scenario.table = Stage.answers
        }
    }

    private static let gatewayBrokerKill = overHTTP(
        "gateway-broker-kill", "while a broker crashes and comes back, each 202 is on the topic once and no 503 is",
        HTTPLoad(600, rate: 300), expecting: [503]
    ) { stage, _ in
        Clock.pause(.seconds(1))
        try stage.killBroker()
        // Its start takes the rest of the time.
        Clock.pause(.milliseconds(3500))
        try stage.resumeBroker()
    }.with { scenario in
        scenario.isFast = true
        scenario.broker = .own(settings: calmBroker)
        scenario.workers = 1
    }

    private static let gatewayBrokerStop = overHTTP(
        "gateway-broker-stop", "nor does a broker that is stopped in order, or stands still, make an answer wrong",
        HTTPLoad(6_000, rate: 250), expecting: [503, 504]
    ) { stage, _ in
        Clock.pause(.seconds(3))
        try stage.stopBroker(node: 1)
        Clock.pause(absence)
        try stage.resumeBroker()
        Clock.pause(.seconds(4))
        try stage.freezeBroker(for: .seconds(8))
    }.with { $0.broker = .own(settings: calmBroker) }

    /// With one node of three the controllers have no majority either.
    private static let gatewayLeaderless = overHTTP(
        "gateway-leaderless", "nor do partitions that move to another leader, or have none for some time",
        HTTPLoad(8_000, rate: 250), expecting: [503]
    ) { stage, _ in
        Clock.pause(.seconds(3))
        for nodes in [[2], [2, 3]] {
            for node in nodes { try stage.killBroker(node: node) }
            Clock.pause(.seconds(8))
            for node in nodes { try stage.resumeBroker(node: node) }
            Clock.pause(.seconds(4))
        }
    }.with { $0.broker = .own(nodes: 3, settings: calmBroker) }

    private static let slowBroker = overHTTP(
        "gateway-slow-broker", "nor does a broker that is slow, or whose acknowledgements are lost", slowLoad, expecting: [504]
    ) { stage, _ in
        guard let proxy = stage.broker.proxy else { throw SuiteError.failed("there is no proxy before the broker") }
        defer { proxy.clear() }
        for (action, count) in [
            (KafkaProxy.Action.delay(.milliseconds(300)), nil), (.dropAnswer, 2), (.cutAfter, 3), (.cutBefore, 3),
            (.delay(.seconds(7)), 2),
        ] as [(KafkaProxy.Action, Int?)] {
            Clock.pause(.seconds(2))
            stage.note("writing: \(action)")
            proxy.arm(action, to: .produce, count: count)
            Clock.pause(.seconds(4))
            if count == nil { proxy.clear() }
        }
        // A request that waits in the proxy is written when its caller has an answer already.
        Clock.pause(.seconds(8))
    }

    private static let slowLoad = {
        var load = HTTPLoad(6_000, rate: 200)
        load.isBehindProxy = true
        return load
    }()

    private static let gatewayKill = overHTTP(
        "gateway-kill-9", "a gateway that is killed at any point has told no lie, and a call without an answer is sent once",
        killLoad, expecting: [0]
    ) { stage, crew in
        var kills = 0
        while !crew.publisher.isDone && kills < 40 {
            Clock.pause(.milliseconds(stage.random(300...2000)))
            for gateway in crew.gateways {
                stage.note("SIGKILL \(gateway.name)")
                gateway.kill()
                Clock.pause(.milliseconds(stage.random(0...300)))
                try gateway.start()
            }
            kills += 1
            try Clock.wait(for: "the gateway to be back", within: .seconds(60)) { crew.gateways.allSatisfy(\.isReady) }
        }
    }.with { $0.isFast = true }

    /// Each request twice: the second call gets the first one's answer from the file, or a record that ends as a duplicate.
    private static let killLoad = {
        var load = HTTPLoad(1_500, rate: 150)
        load.rounds = 2
        load.keepsAnswers = true
        return load
    }()

    private static let twoGateways = overHTTP(
        "two-gateways", "a key that is used at two gateways has one id there, one answer at each, and is sent once",
        twoLoad, expecting: [202]
    ) { _, crew in
        try Clock.wait(for: "the requests to be published", within: .seconds(120)) { crew.publisher.isDone }
    }.with { scenario in
        scenario.check = { _, evidence in
            // Two records of each, because neither gateway knows the other.
            let missing = evidence.httpCalls.isEmpty ? 1 : abs(twoLoad.count - evidence.repetitions.count)
            return [Finding(.repetitions, measured: Double(missing), examples: ["\(evidence.repetitions.count) were repeated"])]
        }
    }

    private static let twoLoad = {
        var load = HTTPLoad(2_000, rate: 200)
        load.gateways = 2
        load.rounds = 4
        return load
    }()

    /// The proof that 503 and 504 can be kept apart.
    private static let certainOrNot = overHTTP(
        "gateway-503-or-504",
        "of 100,000 requests to a broker that stops, dies and stands still, no 503 is written and each 504 is sent once at most",
        certainLoad, expecting: [503, 504], within: .seconds(1500)
    ) { stage, crew in
        var round = 0
        while crew.publisher.begunCount < certainLoad.count && !crew.publisher.isDone {
            Clock.pause(.milliseconds(stage.random(4000...9000)))
            switch round % 3 {
            case 0: try stage.killBroker()
            case 1: try stage.stopBroker(node: 1)
            default: try stage.freezeBroker(for: .milliseconds(stage.random(2000...9000)))
            }
            if round % 3 < 2 {
                Clock.pause(.milliseconds(stage.random(0...7000)))
                try stage.resumeBroker()
            }
            round += 1
        }
    }.with { scenario in
        scenario.broker = .own(settings: calmBroker)
        scenario.workers = 3
        scenario.maxInFlight = 64
        scenario.settings = ["PUSHFAN_LOG_LEVEL": "warning"]
    }

    private static let certainLoad = {
        var load = HTTPLoad(100_000, rate: 800)
        load.connections = 256
        return load
    }()
}
