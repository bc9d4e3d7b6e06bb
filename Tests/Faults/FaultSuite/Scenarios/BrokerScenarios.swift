import FaultOracle

/// One broker that goes away and comes back.
extension Catalogue {
    static let brokerScenarios = [brokerKill, brokerDown, brokerAway, resultsRefused, resultsMissing]

    /// Kafka's default instead of the script's 1 s. A broker that has just restarted and finds a transaction too old drops its
    /// markers while its partitions have no leader yet, and the transaction hangs for ever; with the default it looks later.
    static let calmBroker = ["transaction.abort.timed.out.transaction.cleanup.interval.ms=10000"]

    private static let brokerKill = Scenario("broker-kill", "a broker that crashes and comes back costs nothing but time") {
        stage in
        for _ in 0..<max(2, Int((18 * stage.suite.scale).rounded())) {
            Clock.pause(.milliseconds(stage.random(2000...5000)))
            try stage.killBroker()
            Clock.pause(.milliseconds(stage.random(0...2000)))
            try stage.resumeBroker()
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.broker = .own(settings: calmBroker)
        scenario.workload = Workload(36_000, rate: 250)
        scenario.deadline = .seconds(600)
    }

    private static let brokerDown = Scenario(
        "broker-down", "a broker that is away longer than transactions last brings no result twice"
    ) { stage in
        for _ in 0..<max(1, Int((2 * stage.suite.scale).rounded())) {
            Clock.pause(.seconds(4))
            try stage.killBroker()
            Clock.pause(.seconds(25))
            try stage.resumeBroker()
            Clock.pause(.seconds(5))
        }
    }.with { scenario in
        scenario.broker = .own(settings: calmBroker)
        scenario.workload = Workload(8_000, rate: 200)
        scenario.deadline = .seconds(240)
    }

    private static let brokerAway = Scenario(
        "broker-away", "nor does a broker that lives on and that no worker reaches, while it gives them and their transactions up"
    ) { stage in
        for _ in 0..<max(1, Int((2 * stage.suite.scale).rounded())) {
            Clock.pause(.seconds(4))
            stage.note("no worker reaches the broker")
            stage.beginOutage()
            stage.broker.proxy?.refuse()
            Clock.pause(.seconds(25))
            try stage.broker.proxy?.reopen()
            stage.endOutage()
            stage.note("workers reach the broker")
            stage.watch.mark()
            Clock.pause(.seconds(5))
        }
    }.with { scenario in
        scenario.isBehindProxy = true
        scenario.workload = Workload(8_000, rate: 200)
        scenario.deadline = .seconds(240)
    }

    private static let resultsRefused = Scenario(
        "results-refused",
        "results that Kafka refuses are kept until it takes them, and no call is made for what cannot be recorded"
    ) { stage in
        try stage.refuseResults(for: .seconds(12))
    }.with { scenario in
        scenario.workload = Workload(6_000, rate: 200)
    }

    private static let resultsMissing = Scenario(
        "results-missing", "without a results topic nothing is committed; when it appears, every result does"
    ) { stage in
        try stage.broker.tool("topics", ["--delete", "--topic", stage.topics.results])
        stage.publish()
        stage.note("the results topic is gone")
        stage.beginOutage()
        Clock.pause(.seconds(10))
        try stage.broker.tool(
            "topics", ["--create", "--topic", stage.topics.results, "--partitions", "\(stage.scenario.partitions)"])
        stage.endOutage()
        stage.note("the results topic is there")
        stage.watch.mark()
    }.with { scenario in
        scenario.publishes = false
        scenario.workload = Workload(4_000, rate: 200)
    }
}
