import FaultOracle

/// A worker that dies at a named moment, and what the table of crash windows says of it.
extension Catalogue {
    static let failpointScenarios =
        [
            failpoint("fetched", "a request that was read and not sent is sent once", calls: 1...1),
            failpoint("request_written", "a request on its way may be sent again", calls: 1...2),
            failpoint("answer_unread", "a request whose answer was not read may be sent again", calls: 1...2),
            failpoint("answered", "a request whose answer was in memory is sent again", calls: 2...2),
            failpoint("begun", "so is one whose transaction was begun", calls: 2...2),
            failpoint("produced", "so is one whose result was written in an open transaction", calls: 2...2),
            failpoint("offsets_sent", "so is one whose offsets were part of that transaction", calls: 2...2),
            failpoint(
                "committing", "one whose commit was under way is sent again, or its result is there", calls: 1...2, rounds: 5),
            failpoint("committed", "one whose commit was confirmed is never sent again", calls: 1...1),
        ] + [failpointsUnderLoad]

    /// One worker with one call at a time, so that the first request is alone in its window.
    private static func failpoint(_ name: String, _ claim: String, calls: ClosedRange<Int>, rounds: Int = 1) -> Scenario {
        Scenario("failpoint-\(name.replacing("_", with: "-"))", claim) { stage in
            let worker = stage.workers[0]
            for _ in 0..<rounds {
                try worker.startAndDie(at: name)
                stage.note("it died at \(name)")
            }
            try worker.start()
            stage.watch.mark()
        }.with { scenario in
            scenario.isFast = true
            scenario.startsCrew = false
            scenario.workers = 1
            scenario.partitions = 1
            scenario.maxInFlight = 1
            scenario.isScaled = false
            scenario.workload = .plain(30, rate: nil)
            scenario.deadline = .seconds(90)
            scenario.check = { _, evidence in
                // Each round kills the worker over the first request that has no result yet.
                let counts = (0..<rounds).map { user in evidence.calls.count { $0.user == user && $0.isAccepted } }
                let wrong =
                    rounds == 1
                    ? counts.filter { !calls.contains($0) }.count
                    : counts.contains { $0 < 1 || $0 > rounds + 1 } ? 1 : 0
                return [Finding(.crashWindow, measured: Double(wrong), examples: ["calls for the first requests: \(counts)"])]
            }
        }
    }

    private static let failpointsUnderLoad = Scenario(
        "failpoints", "workers that die at random moments of every kind lose nothing and repeat no result"
    ) { stage in
        let names = [
            "fetched", "request_written", "answer_unread", "answered", "begun", "produced", "offsets_sent", "committing",
            "committed",
        ]
        let victim = stage.workers[0]
        victim.kill()
        while !stage.isPublished {
            let name = names[stage.random(0...names.count - 1)]
            let count = stage.random(1...(name == "committing" || name == "begun" ? 20 : 200))
            try victim.start(["PUSHFAN_TEST_FAILPOINT": "\(name):\(count)"])
            do { try victim.waitForSuicide(within: .seconds(12)) } catch { victim.kill() }
            stage.note("it died at \(name):\(count)")
        }
        try victim.start()
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(40_000, rate: 300)
        scenario.deadline = .seconds(420)
    }
}
