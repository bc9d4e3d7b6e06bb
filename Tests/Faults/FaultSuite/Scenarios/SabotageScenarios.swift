import FaultOracle

/// The suite's own test: workers that are broken on purpose, and the invariant that must notice.
extension Catalogue {
    static let sabotageScenarios = [commitEarly, publishOutside, forgetBitmap, retryUnrecorded, dropOnRevoke, ignoreKeys]

    private static let commitEarly = sabotage("commit_early", "positions committed before the results are lost requests", [.lost])
    { stage in
        Clock.pause(.seconds(2))
        stage.workers[0].kill()
        try stage.workers[0].start()
    }

    private static let publishOutside = sabotage(
        "publish_outside", "results outside the transaction are repeated results", [.repeated]
    ) { stage in
        try stage.workers[0].waitForSuicide(within: .seconds(30))
        try stage.workers[0].start()
    }.with { $0.firstSettings = ["PUSHFAN_TEST_FAILPOINT": "offsets_sent:10"] }

    private static let forgetBitmap = sabotage("forget_bitmap", "a forgotten bitmap is repeated results", [.repeated]) { stage in
        try stage.setHubFaults(["delay=1500ms,every=40"])
        Clock.pause(.seconds(3))
        stage.workers[0].kill()
        try stage.setHubFaults([])
        try stage.workers[0].start()
    }

    private static let retryUnrecorded = sabotage(
        "retry_unrecorded", "a second try that is not told is a repeated call", [.repeatedCalls]
    ) { stage in
        try stage.setHubFaults(["reset=after,every=7"])
    }.with { $0.workload.alwaysRetries = true }

    private static let dropOnRevoke = sabotage(
        "drop_on_revoke", "partitions given up without a drain are repeated calls", [.repeatedCalls]
    ) { stage in
        for worker in stage.workers.dropFirst() {
            Clock.pause(.seconds(2))
            try worker.start()
        }
        Clock.pause(.seconds(2))
    }.with { $0.spareWorkers = 3 }

    private static let ignoreKeys = sabotage("ignore_keys", "keys that nobody waits for are calls before their turn", [.order]) {
        try $0.setHubFaults(["status=500,every=20"])
    }.with { scenario in
        scenario.workload.keys = 20
        scenario.check = { [order($0, $1)] }
    }

    private static func sabotage(
        _ name: String, _ claim: String, _ mustFail: Set<Invariant>, act: @escaping @Sendable (Stage) throws -> Void
    ) -> Scenario {
        Scenario("sabotage-\(name.replacing("_", with: "-"))", claim, act: act).with { scenario in
            scenario.isFast = true
            scenario.workers = 1
            scenario.isScaled = false
            scenario.workload = .plain(2_500, rate: 400)
            scenario.settings = ["PUSHFAN_TEST_SABOTAGE": name]
            scenario.deadline = .seconds(16)
            scenario.mustFail = mustFail
        }
    }
}
