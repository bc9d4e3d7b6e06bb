import FaultOracle

/// Three brokers, of which some die.
extension Catalogue {
    static let clusterScenarios = [threeNodes]

    private static let threeNodes = Scenario(
        "three-nodes", "of three brokers a leader, the controller, and then two of three may die"
    ) { stage in
        for _ in 0..<max(1, Int((2 * stage.suite.scale).rounded())) {
            for node in [2, 1, 3] {
                Clock.pause(.seconds(4))
                try stage.killBroker(node: node)
                Clock.pause(.seconds(6))
                try stage.resumeBroker(node: node)
            }
            Clock.pause(.seconds(6))
            stage.beginOutage()
            try stage.killBroker(node: 2)
            try stage.killBroker(node: 3)
            Clock.pause(.seconds(8))
            try stage.resumeBroker(node: 2)
            try stage.resumeBroker(node: 3)
            stage.endOutage()
            stage.watch.mark()
            Clock.pause(.seconds(5))
        }
    }.with { scenario in
        scenario.broker = .own(nodes: 3, settings: calmBroker)
        scenario.workload = Workload(20_000, rate: 150)
        scenario.deadline = .seconds(420)
    }
}
