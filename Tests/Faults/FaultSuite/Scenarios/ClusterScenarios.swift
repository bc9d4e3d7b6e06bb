import FaultOracle

/// Brokers that die, move, stand still or refuse, and under which work must go on soon after.
extension Catalogue {
    static let clusterScenarios = [
        threeNodes, leadersMove, nodesFrozen, brokerFrozen, replicasMissing, topicsAnew, brokersQuota,
    ]

    /// Work goes on in every partition within this time of the cluster being whole, milliseconds.
    private static let soon = 15_000.0

    /// Load on brokers of its own for as long as the harm lasts, after which work must soon go on.
    private static func underLoad(
        _ name: String, _ claim: String, nodes: Int = 3, act: @escaping @Sendable (Stage) throws -> Void
    ) -> Scenario {
        Scenario(name, claim) { stage in
            try act(stage)
            Clock.pause(.seconds(3))
            stage.endPublishing()
        }.with { scenario in
            scenario.broker = .own(nodes: nodes, settings: calmBroker)
            scenario.isScaled = false
            // More than is ever published.
            scenario.workload = Workload(200_000, rate: 150)
            scenario.settings = ["PUSHFAN_LOG_LEVEL": "info"]
            scenario.deadline = .seconds(900)
            scenario.limits = [.resumption: soon, .wholeResumption: soon]
        }
    }

    private static let threeNodes = underLoad(
        "three-nodes", "of three brokers a leader, the controller, and then two of three may die"
    ) { stage in
        for _ in 0..<max(1, Int((2 * stage.suite.scale).rounded())) {
            for node in [2, 1, 3] {
                Clock.pause(.seconds(4))
                try stage.killBroker(node: node)
                Clock.pause(.seconds(6))
                try stage.resumeBroker(node: node)
                stage.awaitWork()
            }
            Clock.pause(.seconds(2))
            stage.beginOutage()
            try stage.killBroker(node: 2)
            try stage.killBroker(node: 3)
            Clock.pause(.seconds(8))
            try stage.resumeBroker(node: 2)
            try stage.resumeBroker(node: 3)
            stage.endOutage()
            stage.watch.mark()
            stage.awaitWork()
        }
    }

    /// A node that stops hands its partitions over; the election moves all of them back, while every node runs. Those of node 1,
    /// which is the controller as well, move when it has died and come back.
    private static let leadersMove = underLoad(
        "leaders-move", "the leaders of all topics, and both coordinators, may move under load, and a new worker join after it"
    ) { stage in
        let nodes = stage.suite.isFast ? [2, 3] : [2, 3, 1]
        for (node, joining) in zip(nodes, stage.workers.dropFirst(stage.scenario.workers)) {
            Clock.pause(.seconds(2))
            if node == 1 { try stage.killBroker(node: node) } else { try stage.stopBroker(node: node) }
            Clock.pause(.seconds(2))
            try stage.resumeBroker(node: node)
            stage.awaitWork()
            try stage.restoreLeaders()
            stage.watch.mark()
            stage.awaitWork()
            stage.note("\(joining.name) joins")
            try joining.start()
            stage.watch.mark()
            stage.awaitWork()
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.spareWorkers = 6
    }

    private static let nodesFrozen = underLoad(
        "nodes-frozen", "of three brokers each may stand still for 10 to 30 s"
    ) { stage in
        for (node, time) in [(2, 10), (3, 20), (1, 30)] {
            Clock.pause(.seconds(stage.random(3...6)))
            try stage.freezeBroker(node: node, for: .seconds(time))
            stage.awaitWork()
        }
    }

    private static let brokerFrozen = underLoad(
        "broker-frozen", "a single broker may stand still for 10 to 30 s in the middle of sends", nodes: 1
    ) { stage in
        for time in [10, 20, 30] {
            Clock.pause(.milliseconds(stage.random(3000...6000)))
            try stage.freezeBroker(for: .seconds(time))
            stage.awaitWork()
        }
    }

    private static let replicasMissing = underLoad(
        "replicas-missing", "results and dead letters that must be on more brokers than there are wait for these"
    ) { stage in
        let topics = [stage.topics.results, stage.topics.deadLetters]
        for topic in topics { try stage.configure(topic, "--add-config", "min.insync.replicas=3") }
        for node in [2, 3] {
            Clock.pause(.seconds(4))
            stage.beginOutage()
            try stage.killBroker(node: node)
            Clock.pause(.seconds(12))
            try stage.resumeBroker(node: node)
            stage.endOutage()
            stage.awaitWork()
        }
        for topic in topics { try stage.configure(topic, "--delete-config", "min.insync.replicas") }
    }

    /// The results topic goes before the first result, because those in it would be lost. Nothing is in the other two.
    private static let topicsAnew = underLoad(
        "topics-anew", "topics that are deleted and made anew hold work up for as long as they are not there"
    ) { stage in
        let create = [
            "topics", "create", "--partitions", "\(stage.scenario.partitions)", "--replication", "\(stage.broker.nodes)",
        ]
        for topic in [stage.topics.results, stage.topics.requestsOwn, stage.topics.delay] {
            Clock.pause(.seconds(4))
            try stage.broker.tool("topics", ["--delete", "--topic", topic])
            if topic == stage.topics.results { stage.publish() }
            stage.note("\(topic) is gone")
            stage.beginOutage()
            Clock.pause(.seconds(10))
            try stage.run(create)
            stage.endOutage()
            stage.note("\(topic) is there")
            stage.watch.mark()
            stage.awaitWork()
        }
    }.with { $0.publishes = false }

    private static let brokersQuota = Scenario(
        "brokers-quota", "where each of three brokers takes 1 MB/s, dead letters of half a megabyte hold no partition up"
    ) { stage in
        stage.publish()
        try Clock.wait(for: "the records to be published", within: .seconds(180)) { stage.isPublished }
        try stage.broker.tool(
            "configs",
            ["--alter", "--entity-type", "clients", "--entity-default", "--add-config", "producer_byte_rate=1000000"])
        stage.note("the brokers are slow")
        try stage.startCrew()
        stage.watch.mark()
        stage.awaitWork()
    }.with { scenario in
        scenario.broker = .own(nodes: 3)
        scenario.isScaled = false
        scenario.startsCrew = false
        scenario.publishes = false
        scenario.workload = Workload(1_600, rate: nil)
        // A fifth of these are large.
        scenario.workload.unreadableEvery = 2
        scenario.workload.ballastByteCount = 500_000
        scenario.deadline = .seconds(400)
        scenario.limits = [.resumption: soon, .wholeResumption: soon]
    }
}
