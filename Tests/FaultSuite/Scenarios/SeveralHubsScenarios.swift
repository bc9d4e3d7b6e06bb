import FaultOracle

/// Workers with two hubs.
extension Catalogue {
    static let severalHubsScenarios = [hubsKill]

    /// How long the first hub is watched before the second one is out, and again while it is, milliseconds.
    private static let watched: Int64 = 8000

    private static let hubsKill = Scenario(
        "hubs-kill", "a hub that is out holds up its own requests alone, and none is lost while workers die and reload"
    ) { stage in
        Clock.pause(.milliseconds(watched + 2000))
        stage.noteSecondHubOutage()
        try stage.setSecondHubFaults(["status=503"])
        Clock.pause(.milliseconds(watched))
        for room in [8, 4, 12] {
            try stage.changeSecondHub("max_in_flight: \(room)")
            try replace(stage)
            stage.watch.mark()
        }
        try stage.setSecondHubFaults([])
        for room in [6, 10] {
            try replace(stage)
            try stage.changeSecondHub("max_in_flight: \(room)")
        }
        stage.watch.mark()
        // At each of the five changes one worker at least was there to take it; those that had just begun read the file as it was.
        try Clock.wait(for: "the workers to take five changes", within: .seconds(10)) {
            stage.loggedCount(of: "the hubs of the new settings are used") >= 5
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.isScaled = false
        scenario.workers = 2
        scenario.hasSecondHub = true
        scenario.workload = Workload(9_000, rate: 200)
        scenario.workload.secondHubEvery = 2
        scenario.deadline = .seconds(180)
        scenario.check = { [wrongHub($0, $1), heldUp($0, $1)] }
    }

    /// Calls at another hub than the request's.
    private static func wrongHub(_ stage: Stage, _ evidence: Evidence) -> Finding {
        guard let workload = stage.workloads.first else { return Finding(.hubsApart, measured: 1) }
        let wrong = evidence.calls.filter { call in
            call.user.map { workload.isForSecondHub($0) != call.isOfSecondHub } ?? false
        }
        return Finding(
            .hubsApart, measured: Double(wrong.count),
            examples: wrong.prefix(3).map { "user \($0.user ?? -1) at the \($0.isOfSecondHub ? "second" : "first") hub" })
    }

    /// What the first hub got less while the second one was out than in the same time before, in per cent.
    private static func heldUp(_ stage: Stage, _ evidence: Evidence) -> Finding {
        guard let outage = stage.secondHubOutage else { return Finding(.hubsApart, measured: 100) }
        let times = evidence.calls.filter { !$0.isOfSecondHub }.map(\.at)
        let before = times.count { $0 >= outage - watched && $0 < outage }
        let during = times.count { $0 >= outage && $0 < outage + watched }
        let missing = before > 0 ? 100 - 100 * Double(during) / Double(before) : 100
        return Finding(.hubsApart, measured: missing, allowed: 10, examples: ["\(during) calls, \(before) before"])
    }
}
