import FaultOracle
import Foundation

/// Replays that die.
extension Catalogue {
    static let replayScenarios = [replayKilled]

    /// How often the replay is killed, whatever the scale.
    private static let replayKills = 10

    private static let replayKilled = Scenario(
        "replay-kill-9", "a replay that is killed again and again repeats what failed once, and nothing else"
    ) { stage in
        try stage.setHubFaults(["status=500,every=3"])
        stage.publish()
        try Clock.wait(for: "the requests to fail", within: stage.scenario.deadline) { stage.isSettled }
        try stage.setHubFaults([])
        let plan = "\(stage.folder)/plan.ndjson"
        try stage.run(["replay", "plan", "--reason", "kill test", "--actor", "suite", "--file", plan])
        let planned = try replayCount(plan)
        stage.note("\(planned) requests are planned")
        // About half of them when the last one is killed.
        let rate = "\(max(10, planned / 25))"
        for _ in 0..<replayKills {
            try stage.runAndKill(
                ["replay", "run", plan, "--yes", "--rate", rate], after: .milliseconds(stage.random(200...2500)))
        }
        try stage.run(["replay", "run", plan, "--yes", "--rate", "5000"])
        try Clock.wait(for: "the replays' results", within: .seconds(60)) {
            stage.watch.settledCount >= stage.writtenCount + planned
        }
        try stage.run(["replay", "run", plan, "--yes"])
    }.with { scenario in
        scenario.isFast = true
        scenario.workers = 2
        scenario.publishes = false
        scenario.workload = Workload(6_000, rate: 500)
        scenario.settings = ["PUSHFAN_RETRY_MAX_ATTEMPTS": "1"]
        scenario.deadline = .seconds(180)
        scenario.check = { stage, evidence in
            let missing = max(0, replayKills - stage.commandKills) + (evidence.replays.isEmpty ? 1 : 0)
            return [Finding(.replays, measured: Double(missing), examples: ["\(stage.commandKills) kills"])]
        }
    }

    /// The new requests that a plan names.
    private static func replayCount(_ plan: String) throws -> Int {
        try String(contentsOfFile: plan, encoding: .utf8).split(separator: "\n").count { $0.hasPrefix("{\"n\":") }
    }
}
