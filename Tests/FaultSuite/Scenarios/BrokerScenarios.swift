import FaultOracle

/// What happens to brokers.
extension Catalogue {
    static let brokerScenarios: [Scenario] = [brokerKill]

    private static let brokerKill = Scenario("broker-kill", "a broker that crashes and comes back costs nothing but time") {
        stage in
        while !stage.isPublished {
            stage.pause(.seconds(4))
            try stage.killBroker()
            Clock.pause(.milliseconds(stage.random(200...2500)))
            try stage.resumeBroker()
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.broker = .own()
        scenario.workload = Workload(10_000, rate: 300)
        scenario.deadline = .seconds(180)
    }
}
