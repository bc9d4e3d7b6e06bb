import FaultOracle

/// Records that are no good, too large, or not there.
extension Catalogue {
    static let recordScenarios = [poison, huge, slowBrokers, refusedLong, abortedInput, windowFull]

    private static let poison = Scenario(
        "poison", "a flood of unreadable records is kept byte for byte, and requests go on between them"
    ) { stage in
        Clock.pause(.seconds(1))
        stage.workers[0].kill()
        try stage.workers[0].start()
        stage.watch.mark()
    }.with { scenario in
        scenario.isFast = true
        scenario.workers = 2
        scenario.workload = Workload(8_000, rate: 1500)
        scenario.workload.unreadableEvery = 2
        scenario.workload.flawedEvery = 3
    }

    private static let huge = Scenario("huge", "records of half a megabyte and more are rejected or kept, as they are") { stage in
        Clock.pause(.seconds(2))
        stage.workers[0].kill()
        try stage.workers[0].start()
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(1_200, rate: 100)
        scenario.workload.unreadableEvery = 6
        scenario.workload.flawedEvery = 7
        scenario.workload.ballastByteCount = 600_000
    }

    private static let slowBrokers = Scenario(
        "slow-brokers",
        "brokers that take 1 MB/s, 0.1 s after being asked, get dead letters of half a megabyte in small transactions"
    ) { stage in
        stage.publish()
        try Clock.wait(for: "the records to be published", within: .seconds(60)) { stage.isPublished }
        try stage.broker.tool(
            "configs",
            ["--alter", "--entity-type", "clients", "--entity-default", "--add-config", "producer_byte_rate=1000000"])
        for kind in [
            KafkaProxy.Kind.produce, .addPartitionsToTransaction, .addOffsetsToTransaction, .endTransaction,
            .transactionOffsetCommit,
        ] { stage.broker.proxy?.arm(.delay(.milliseconds(100)), to: kind) }
        stage.note("the broker is slow")
        try stage.startCrew()
        stage.watch.mark()
    }.with { scenario in
        scenario.isFast = true
        scenario.broker = .own()
        scenario.isBehindProxy = true
        scenario.isScaled = false
        scenario.startsCrew = false
        scenario.publishes = false
        scenario.workers = 2
        scenario.workload = Workload(300, rate: nil)
        scenario.workload.unreadableEvery = 1
        scenario.workload.ballastByteCount = 500_000
        scenario.settings = ["PUSHFAN_KAFKA_TRANSACTION_TIMEOUT": "10s"]
        scenario.deadline = .seconds(400)
    }

    private static let refusedLong = Scenario(
        "refused-long", "a results topic that takes nothing for a minute costs no result, no whole, and no byte of a dead letter"
    ) { stage in
        try stage.refuseResults(for: .seconds(60))
    }.with { scenario in
        scenario.isScaled = false
        scenario.workload = Workload(2_400, rate: 30)
        scenario.workload.ballastByteCount = 300_000
        scenario.workload.largeEvery = 300
        scenario.deadline = .seconds(180)
    }

    private static let abortedInput = Scenario(
        "aborted-input", "requests of aborted transactions are nobody's, and the gaps that they leave hold nothing up"
    ) { stage in
        Clock.pause(.seconds(3))
        stage.workers[0].kill()
        try stage.workers[0].start()
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(3_000, rate: 200)
        scenario.workload.transactionSize = 25
    }

    private static let windowFull = Scenario(
        "window-full",
        "a request that never ends stops its partition at the window, and a restart knows what was finished above it"
    ) { stage in
        try stage.setHubFaults((0..<6).map { "hang=before,tags=username:u\(100 + $0)" })
        Clock.pause(.seconds(5))
        for worker in stage.crew {
            stage.note("SIGKILL \(worker.name)")
            worker.kill()
            try worker.start()
        }
        Clock.pause(.seconds(8))
        try stage.setHubFaults([])
        for worker in stage.crew {
            stage.note("SIGKILL \(worker.name)")
            worker.kill()
            try worker.start()
        }
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = .plain(6_000, rate: 500)
        scenario.settings = ["PUSHFAN_WORKER_WINDOW": "256", "PUSHFAN_HUB_REQUEST_TIMEOUT": "120s"]
    }
}
