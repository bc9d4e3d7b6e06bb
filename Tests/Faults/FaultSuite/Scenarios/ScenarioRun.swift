import FaultOracle
import Foundation

/// What one scenario came to.
struct ScenarioOutcome: Sendable {
    let name: String
    let claim: String
    var seconds = 0.0
    var requests = 0
    var results = 0
    var workerKills = 0
    var drains = 0
    var brokerKills = 0
    var commandKills = 0
    var gatewayKills = 0
    var findings: [Finding] = []
    /// A table of what was measured, if the scenario has one: the columns' names, and the rows.
    var table: [[String]] = []
    /// What every kill and outage caused.
    var windows: [CrashWindow] = []
    /// Why it could not be judged, if it could not.
    var failure: String?
    /// What this machine lacks for it; such a scenario is told of and does not fail the suite.
    var lacking: String?
    /// The invariants that had to be violated.
    var mustFail: Set<Invariant> = []

    /// Processes that were killed.
    var kills: Int { workerKills + brokerKills + commandKills + gatewayKills }

    /// Findings whose invariant does not hold.
    var violations: [Finding] { findings.filter { !$0.holds } }

    /// Whether the scenario came to what it must.
    var passed: Bool {
        guard failure == nil, lacking == nil else { return lacking != nil }
        return mustFail.isEmpty ? violations.isEmpty : violations.contains { mustFail.contains($0.invariant) }
    }
}

/// Runs one scenario from an empty folder to its findings.
struct ScenarioRun {
    let scenario: Scenario
    let suite: SuiteOptions

    /// Runs it.
    ///
    /// - Parameter shared: The broker for scenarios that harm none.
    /// - Returns: What it came to; it does not throw, because the other scenarios are to run all the same.
    func outcome(shared: () throws -> Broker) -> ScenarioOutcome {
        let begin = ContinuousClock.now
        var outcome = ScenarioOutcome(name: scenario.name, claim: scenario.claim, mustFail: scenario.mustFail)
        let folder = "\(suite.folder)/\(scenario.name)"
        do {
            // Logs and journals grow at their ends: the calls of another run would be judged as those of this one.
            guard !FileManager.default.fileExists(atPath: folder) else {
                throw SuiteError.failed(
                    "\(folder) is there already: remove what an earlier run has left, or keep this run's elsewhere")
            }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            switch scenario.broker {
            case .shared: try play(folder, on: try shared(), &outcome)
            case .own(let nodes, let settings):
                try scenario.prepare?(folder)
                defer { scenario.tidy?(folder) }
                let broker = try Broker(
                    folder: "\(folder)/kafka", nodes: nodes, settings: settings, script: suite.kafka,
                    environment: suite.environment)
                defer { broker.end() }
                try play(folder, on: broker, &outcome)
            }
        } catch SuiteError.unavailable(let what) {
            outcome.lacking = what
        } catch {
            outcome.failure = "\(error)"
        }
        let elapsed = begin.duration(to: .now)
        outcome.seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        if outcome.passed && !suite.keepsEvidence { try? FileManager.default.removeItem(atPath: folder) }
        return outcome
    }

    private func play(_ folder: String, on broker: Broker, _ outcome: inout ScenarioOutcome) throws {
        broker.proxy?.clear()
        let stage = try Stage(scenario, suite, folder: folder, broker: broker)
        defer { stage.end() }
        if scenario.startsCrew { try stage.startCrew() }
        if scenario.publishes { stage.publish() }
        try stage.act()
        let isSettled = stage.settle()
        stage.stopWorkers()
        stage.watch.end()
        stage.endHubs()
        let evidence = try stage.evidence()
        outcome.requests = evidence.inputs.count
        outcome.results = evidence.results.count + evidence.deadLetters.count
        outcome.workerKills = evidence.disturbances.count { $0.kind == .kill || $0.kind == .freeze }
        outcome.drains = evidence.disturbances.count { $0.kind == .drain }
        outcome.brokerKills = stage.brokerKills
        outcome.commandKills = stage.commandKills
        outcome.gatewayKills = stage.gatewayCrew?.killCount ?? 0
        outcome.windows = Oracle(evidence).windows().windows
        outcome.findings = (Oracle(evidence).findings() + (scenario.check?(stage, evidence) ?? [])).map(adjusted)
        outcome.table = scenario.table?(stage, evidence) ?? []
        if let failure = stage.publisherFailure { outcome.failure = "publishing failed: \(failure)" }
        if !isSettled && outcome.violations.isEmpty { outcome.failure = "it was through only after its deadline" }
    }

    /// The finding with the scenario's own limit, if it has one.
    private func adjusted(_ finding: Finding) -> Finding {
        guard let limit = scenario.limits[finding.invariant] else { return finding }
        var finding = finding
        finding.allowed = limit
        return finding
    }
}

extension Stage {
    /// Does the scenario's harm.
    func act() throws { try scenario.act(self) }
}
