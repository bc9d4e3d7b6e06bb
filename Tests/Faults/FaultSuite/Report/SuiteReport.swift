import FaultOracle
import Foundation

/// The lines and tables that tell people what the suite found.
struct SuiteReport {
    private var outcomes: [ScenarioOutcome] = []
    private let begin = ContinuousClock.now

    /// The line above those of the scenarios.
    static var header: String {
        row("scenario", "seconds", "requests", "kills", "results", "repeats", "verdict")
    }

    /// Takes in a scenario, and says its line.
    mutating func add(_ outcome: ScenarioOutcome) -> String {
        outcomes.append(outcome)
        let repeats = outcome.findings.first { $0.invariant == .repeated }.map { "\(Int($0.measured))" } ?? "-"
        var text = Self.row(
            outcome.name, Self.number(outcome.seconds), "\(outcome.requests)", "\(outcome.kills)", "\(outcome.results)", repeats,
            Self.verdict(of: outcome))
        for line in Self.table(of: outcome) + Self.reasons(of: outcome) { text += "\n    \(line)" }
        return text
    }

    /// Whether every scenario came to what it must.
    var passed: Bool { outcomes.allSatisfy(\.passed) }

    /// The table of the invariants, and the totals.
    func summary() -> String {
        var lines = ["", "Invariants over all scenarios (those that must fail left out):"]
        for total in totals() {
            lines.append("  \(Self.pad(total.name, 58)) \(Self.pad(total.worst, 12)) allowed \(total.allowed)")
        }
        lines.append("")
        lines += figures().map { "  \(Self.pad($0.name, 58)) \($0.value)" }
        let bad = outcomes.filter { !$0.passed }
        lines.append("")
        for outcome in outcomes where outcome.lacking != nil {
            lines.append("\(outcome.name) was not run: \(outcome.lacking ?? "")")
        }
        lines.append(
            bad.isEmpty
                ? "\(outcomes.count) scenarios, every invariant held"
                : "\(outcomes.count) scenarios, \(bad.count) failed:")
        // Once more, because of a long log often the end alone is looked at.
        for outcome in bad { lines += ["  \(outcome.name)"] + Self.reasons(of: outcome).map { "    \($0)" } }
        return lines.joined(separator: "\n")
    }

    /// The same as Markdown, with date and command.
    func markdown(command: String) -> String {
        let date = Date.now.formatted(.iso8601)
        var lines = ["# What the fault suite found", "", "`\(command)` on \(date)", ""]
        lines += [
            "| Scenario | What must hold | s | requests | kills | results | repeated | verdict |",
            "|---|---|---:|---:|---:|---:|---:|---|",
        ]
        for outcome in outcomes {
            let repeats = outcome.findings.first { $0.invariant == .repeated }.map { "\(Int($0.measured))" } ?? "-"
            lines.append(
                "| \(outcome.name) | \(outcome.claim) | \(Self.number(outcome.seconds)) | \(outcome.requests) "
                    + "| \(outcome.kills) | \(outcome.results) | \(repeats) | \(Self.verdict(of: outcome)) |"
            )
        }
        for outcome in outcomes where !outcome.table.isEmpty {
            lines += ["", "`\(outcome.name)`:", ""] + Self.table(of: outcome)
        }
        lines += ["", "| Invariant | worst | allowed there |", "|---|---:|---:|"]
        for total in totals() { lines.append("| \(total.name) | \(total.worst) | \(total.allowed) |") }
        lines += ["", "| Figure | value |", "|---|---:|"]
        for figure in figures() { lines.append("| \(figure.name) | \(figure.value) |") }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension SuiteReport {
    private var judged: [ScenarioOutcome] { outcomes.filter(\.mustFail.isEmpty) }

    /// Of each invariant the finding that is nearest to its limit, or furthest beyond it.
    private func totals() -> [(name: String, worst: String, allowed: String)] {
        Invariant.allCases.compactMap { invariant in
            let findings = judged.flatMap(\.findings).filter { $0.invariant == invariant && $0.allowed.isFinite }
            guard let worst = findings.max(by: { $0.measured - $0.allowed < $1.measured - $1.allowed }) else { return nil }
            return (invariant.rawValue, Self.number(worst.measured), Self.number(worst.allowed))
        }
    }

    private func figures() -> [(name: String, value: String)] {
        func sum(_ invariant: Invariant) -> Double {
            judged.flatMap(\.findings).filter { $0.invariant == invariant }.map(\.measured).reduce(0, +)
        }
        func largest(_ invariant: Invariant) -> Double {
            judged.flatMap(\.findings).filter { $0.invariant == invariant }.map(\.measured).max() ?? 0
        }
        func windows(_ kinds: Disturbance.Kind...) -> String {
            let windows = judged.flatMap(\.windows).filter { kinds.contains($0.disturbance.kind) }
            let largest = windows.max { $0.repeatedCalls < $1.repeatedCalls }
            return "\(windows.map(\.repeatedCalls).reduce(0, +)) of \(windows.map(\.allowedCalls).reduce(0, +)), "
                + "most for one: \(largest?.repeatedCalls ?? 0) of \(largest?.allowedCalls ?? 0)"
        }
        return [
            ("requests", "\(outcomes.map(\.requests).reduce(0, +))"),
            ("worker kills", "\(outcomes.map(\.workerKills).reduce(0, +))"),
            ("worker drains", "\(outcomes.map(\.drains).reduce(0, +))"),
            ("replay kills", "\(outcomes.map(\.commandKills).reduce(0, +))"),
            ("gateway kills", "\(outcomes.map(\.gatewayKills).reduce(0, +))"),
            ("calls that failed and were not replayed exactly once", Self.number(sum(.replays))),
            ("broker kills", "\(outcomes.map(\.brokerKills).reduce(0, +))"),
            ("requests lost", Self.number(sum(.lost) + sum(.unreadableLost))),
            ("final results repeated", Self.number(sum(.repeated))),
            (Invariant.torn.rawValue, Self.number(sum(.torn))),
            ("hub calls repeated after kills, of those in their windows", windows(.kill, .freeze)),
            ("hub calls repeated after broker outages, by worker", windows(.outage)),
            ("hub calls repeated after drains", windows(.drain)),
            ("calls per second and worker in the worst hub outage", Self.number(largest(.outageCalls))),
            ("longest time from a fault's end to the next result", "\(Self.number(largest(.resumption))) ms"),
            ("longest time until every partition has a new result", "\(Self.number(largest(.wholeResumption))) ms"),
        ]
    }

    /// What a scenario measured, as a table of Markdown.
    private static func table(of outcome: ScenarioOutcome) -> [String] {
        guard let columns = outcome.table.first else { return [] }
        let rows = outcome.table.map { "| " + $0.joined(separator: " | ") + " |" }
        return [rows[0], "|" + columns.map { _ in "---:|" }.joined()] + rows.dropFirst()
    }

    /// Why a scenario came to what it did: what kept it from running, or what did not hold, with examples.
    private static func reasons(of outcome: ScenarioOutcome) -> [String] {
        var lines: [String] = []
        if let reason = outcome.failure ?? outcome.lacking { lines.append(reason) }
        for finding in outcome.violations {
            lines.append(
                "\(outcome.mustFail.isEmpty ? "VIOLATED" : "caught"): \(finding.invariant.rawValue): "
                    + "\(number(finding.measured)), allowed \(number(finding.allowed))")
            lines += finding.examples.map { "    \($0)" }
        }
        return lines
    }

    private static func verdict(of outcome: ScenarioOutcome) -> String {
        if outcome.lacking != nil { return "not run" }
        if outcome.failure != nil { return "NOT JUDGED" }
        if outcome.mustFail.isEmpty { return outcome.passed ? "held" : "FAILED" }
        return outcome.passed ? "caught" : "NOT CAUGHT"
    }

    private static func row(
        _ name: String, _ seconds: String, _ requests: String, _ kills: String, _ results: String, _ repeats: String,
        _ verdict: String
    ) -> String {
        pad(name, 20) + right(seconds, 8) + right(requests, 10) + right(kills, 7) + right(results, 10) + right(repeats, 9)
            + "  " + verdict
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// A figure with at most one decimal.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "any" }
        return value == value.rounded() ? "\(Int(value))" : "\((value * 10).rounded() / 10)"
    }
}
