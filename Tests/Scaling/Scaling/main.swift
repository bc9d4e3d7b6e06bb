import Foundation
import Glibc
import ScaleModel

let usage = """
    pushfan-scaling --rule FILE [--seed N] [--csv DIR] [--self-test]

      --rule FILE   the ScaledObject to drive simulated days with
      --seed N      begins everything random (default: 1)
      --csv DIR     writes a file for each day, with a line for each minute
      --self-test   shows instead that the checks find bad rules

    Exit status: 0 every day is as it should be, 1 one is not, 2 usage.
    """

/// The wishes of the command line.
struct Options {
    var rule = ""
    var seed: UInt64 = 1
    var csv: String?
    var testsItself = false

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--rule": rule = rest.popFirst() ?? ""
            case "--seed":
                guard let number = rest.popFirst().flatMap(UInt64.init) else { return nil }
                seed = number
            case "--csv":
                guard let folder = rest.popFirst() else { return nil }
                csv = folder
            case "--self-test": testsItself = true
            default: return nil
            }
        }
        guard !rule.isEmpty else { return nil }
    }
}

func complain(_ text: String) { FileHandle.standardError.write(Data("pushfan-scaling: \(text)\n".utf8)) }

func pad(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

func row(_ name: String, _ columns: [String]) -> String {
    name.padding(toLength: 14, withPad: " ", startingAt: 0) + columns.map { pad($0, 12) }.joined()
}

func decimal(_ value: Double) -> String { String(format: "%.1f", value) }

/// Prints the table of the days under a rule, and what is wrong with them.
///
/// - Returns: True if nothing is.
func showDays(of rule: ScalingRule, _ options: Options) throws -> Bool {
    print(
        row(
            "day",
            [
                "longest wait", "with \(rule.replicas.upperBound)", "over 60 s", "most", "changes", "turns", "rebalances",
                "worker h",
            ]))
    var isGood = true
    for scenario in Scenario.all {
        let physics = Day(scenario, rule: .fixed(rule.replicas.upperBound), seed: options.seed)
        let day = Day(scenario, rule: rule, seed: options.seed)
        print(
            row(
                scenario.name,
                [
                    "\(Int(day.longestWait)) s", "\(Int(physics.longestWait)) s", "\(day.secondsOver - physics.secondsOver) s",
                    "\(day.most)", "\(day.steps.count - 1)", "\(day.turns)", "\(day.rebalances)", decimal(day.workerHours),
                ]))
        for complaint in Verdict(day, rule: rule, physics: physics).complaints {
            print("    WRONG: \(complaint)")
            isGood = false
        }
        if let folder = options.csv {
            let lines = day.minutes.map { "\($0.at),\(Int($0.demand)),\(Int($0.oldest)),\($0.replicas),\($0.ready)\n" }
            let name = scenario.name.replacing(" ", with: "-").replacing("'", with: "")
            try Data(("second,demand,oldest_waiting,replicas,ready\n" + lines.joined()).utf8)
                .write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(name).csv"))
        }
    }
    return isGood
}

/// Prints what is wrong with each bad rule.
///
/// - Returns: True if something is wrong with all of them.
func findBadRules(besides rule: ScalingRule, _ options: Options) -> Bool {
    var areFound = true
    for (name, bad) in BadRules.all(besides: rule) {
        var complaints: [String] = []
        for scenario in Scenario.all where complaints.isEmpty {
            let physics = Day(scenario, rule: .fixed(rule.replicas.upperBound), seed: options.seed)
            complaints = Verdict(Day(scenario, rule: bad, seed: options.seed), rule: bad, physics: physics).complaints
                .map { "\(scenario.name): \($0)" }
        }
        print("\(complaints.isEmpty ? "NOT FOUND" : "found    ")  \(name): \(complaints.first ?? "every day is as it should be")")
        if complaints.isEmpty { areFound = false }
    }
    return areFound
}

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
    complain(usage)
    exit(2)
}
do {
    let rule = try ScaledObject(Array(Data(contentsOf: URL(fileURLWithPath: options.rule)))).rule()
    exit(try options.testsItself ? (findBadRules(besides: rule, options) ? 0 : 1) : (showDays(of: rule, options) ? 0 : 1))
} catch {
    complain("\(options.rule): \(error)")
    exit(1)
}
