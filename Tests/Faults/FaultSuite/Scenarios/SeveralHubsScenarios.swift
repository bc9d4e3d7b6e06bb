import FaultOracle

/// Workers with two hubs.
extension Catalogue {
    static let severalHubsScenarios = [hubsKill]

    /// The first hub's requests of so many milliseconds of the second one's outage are watched.
    private static let watched: Int64 = 8000

    private static let hubsKill = Scenario(
        "hubs-kill", "a hub that is out holds up its own requests alone, and none is lost while workers die and reload"
    ) { stage in
        Clock.pause(.seconds(10))
        try stage.setSecondHubFaults(["status=503"])
        let begin = Clock.now()
        let users = watchedUsers(stage, from: begin)
        // However long that takes on a busy machine: as long as the second hub is out, nothing but its outage can hold them up.
        try? Clock.wait(for: "the calls of the first hub", within: .seconds(60), every: .milliseconds(200)) {
            called(try Journal.calls(at: stage.hub.journal)).isSuperset(of: users)
        }
        stage.noteSecondHubOutage(begin...max(begin, Clock.now()))
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

    /// The first hub's requests that were published when the second one was out, and not called while it was.
    private static func heldUp(_ stage: Stage, _ evidence: Evidence) -> Finding {
        guard let outage = stage.secondHubOutage else { return Finding(.hubsApart, measured: 1) }
        let users = watchedUsers(stage, from: outage.lowerBound)
        guard !users.isEmpty else { return Finding(.hubsApart, measured: 1, examples: ["no request was watched"]) }
        let missing = users.subtracting(called(evidence.calls.filter { !$0.isOfSecondHub && $0.at <= outage.upperBound }))
        return Finding(
            .hubsApart, measured: Double(missing.count),
            examples: missing.isEmpty ? [] : ["\(missing.count) of \(users.count) were not called while the second hub was out"])
    }

    /// The users of the first hub's sound requests that are published in the time that is watched, or later where the publisher is late.
    private static func watchedUsers(_ stage: Stage, from begin: Int64) -> Set<Int> {
        guard let workload = stage.workloads.first else { return [] }
        let span = begin..<begin + watched
        return Set(
            (0..<workload.count).filter { number in
                span.contains(workload.due(number)) && workload.isSound(number) && !workload.isForSecondHub(number)
            })
    }

    /// The users for whom a hub took a call.
    private static func called(_ calls: [CallFact]) -> Set<Int> { Set(calls.filter(\.isAccepted).compactMap(\.user)) }
}
