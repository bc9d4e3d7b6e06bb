import FaultOracle
import PushModel

/// A hub that answers, but not what one hopes for.
extension Catalogue {
    static let hubScenarios = [hubBursts, hubOutage, hubThrottles, hubThrottlesForever, hubUnauthorized, hubKeyRotated]

    private static let hubBursts = Scenario("hub-500", "bursts of 500 are tried again, and every request ends") { stage in
        for _ in 0..<max(1, Int((4 * stage.suite.scale).rounded())) {
            try stage.setHubFaults(["status=500,every=2"])
            Clock.pause(.seconds(2))
            try stage.setHubFaults(["status=503,body=html", "status=500,body=empty"])
            Clock.pause(.seconds(1))
            try stage.setHubFaults([])
            stage.watch.mark()
            Clock.pause(.seconds(2))
        }
    }.with { scenario in
        scenario.isFast = true
        scenario.workers = 2
        scenario.workload = Workload(6_000, rate: 300)
    }

    private static let hubOutage = Scenario(
        "hub-503", "a hub that is down for long is left in peace, and work goes on when it is back"
    ) { stage in
        Clock.pause(.seconds(3))
        try stage.setHubFaults(["status=503"])
        Clock.pause(.seconds(5))
        let begin = Clock.now()
        stage.pause(.seconds(30))
        stage.noteOutage(Outage(begin: begin, end: Clock.now(), workers: stage.scenario.workers))
        try stage.setHubFaults([])
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(4_000, rate: 150)
        scenario.deadline = .seconds(240)
    }

    private static let hubThrottles = Scenario(
        "hub-429", "Retry-After is obeyed as seconds and as a date, and does no harm when it is negative or nonsense"
    ) { stage in
        for (field, wait) in [("retry-after=2", 2000), ("retry-after-date=3", 2000), ("retry-after=1", 1000)] {
            Clock.pause(.seconds(2))
            stage.notePause(Int64(wait))
            // Enough of them for the hub to refuse as a whole.
            try stage.setHubFaults(["status=429,\(field),count=12"])
            Clock.pause(.milliseconds(wait + 1500))
        }
        for nonsense in ["-7777", "soon!", "1e999", "     "] {
            stage.hub.proxy.behave(.replace("Retry-After: 77777", with: "Retry-After: \(nonsense)"))
            stage.hub.proxy.cutAll()
            try stage.setHubFaults(["status=429,retry-after=77777,count=20"])
            Clock.pause(.seconds(2))
        }
        try stage.setHubFaults([])
        stage.hub.proxy.behave(.forward)
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 1
        scenario.isScaled = false
        scenario.workload = Workload(7_000, rate: 250)
        scenario.check = { [Finding(.earlyCalls, measured: Double(earlyCalls($0, $1)))] }
    }

    /// Calls between the answer that asked for rest, with what was under way then, and the end of that rest.
    private static func earlyCalls(_ stage: Stage, _ evidence: Evidence) -> Int {
        stage.pauses.map { pause in
            guard let asked = evidence.calls.first(where: { $0.status == 429 && $0.at >= pause.begin }) else { return 1 }
            let rest = asked.at + 200..<asked.at + pause.wait
            return evidence.calls.count { rest.contains($0.at) }
        }.reduce(0, +)
    }

    private static let hubThrottlesForever = Scenario(
        "hub-429-absurd", "a hub that asks for a day of rest holds no request longer than it is of use"
    ) { stage in
        Clock.pause(.seconds(2))
        try stage.setHubFaults(["status=429,retry-after=86400,count=20"])
        try Clock.wait(for: "the requests to be published", within: .seconds(60)) { stage.isPublished }
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 1
        scenario.isScaled = false
        scenario.workload = Workload(1_500, rate: 250)
        scenario.workload.timeToLive = 8
        scenario.deadline = .seconds(45)
    }

    private static let hubUnauthorized = Scenario("hub-401", "a hub that refuses every key loses no request") { stage in
        Clock.pause(.seconds(3))
        try stage.setHubFaults(["status=401"])
        stage.pause(.seconds(8))
        try stage.setHubFaults([])
        stage.watch.mark()
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(4_000, rate: 200)
        scenario.deadline = .seconds(240)
    }

    private static let hubKeyRotated = Scenario(
        "hub-key-rotated", "when the first key is withdrawn the second one does, and nobody notices"
    ) { stage in
        try Clock.wait(for: "the requests", within: stage.scenario.deadline) { stage.isSettled }
    }.with { scenario in
        scenario.workers = 2
        scenario.workload = Workload(4_000, rate: nil)
        // The emulator knows one key of the policy; the workers' first key is another one.
        scenario.withdrawsFirstKey = true
        scenario.check = { _, evidence in
            let failed = evidence.results.filter { $0.state != .sent && $0.state != .rejected }
            return [
                Finding(
                    .contradictions, measured: Double(failed.count),
                    examples: failed.prefix(3).map { "\($0.origin): \($0.state)" })
            ]
        }
    }
}
