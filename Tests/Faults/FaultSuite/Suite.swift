import Foundation
import Glibc

/// The whole suite: scenarios one after the other, a line for each, and the tables at the end.
struct Suite {
    private let options: SuiteOptions
    private let scenarios: [Scenario]

    init(_ options: SuiteOptions) throws {
        self.options = options
        scenarios = try Catalogue.selected(options)
    }

    /// Says what there is.
    static func list() {
        for scenario in Catalogue.all {
            let name = scenario.name + String(repeating: " ", count: max(1, 20 - scenario.name.count))
            print(name + (scenario.isFast ? "fast  " : "      ") + scenario.claim)
        }
    }

    /// Runs the scenarios.
    ///
    /// - Returns: Whether every invariant held.
    /// - Throws: There is no broker, or the report cannot be written.
    func run() throws -> Bool {
        guard FileManager.default.isReadableFile(atPath: options.kafka) else {
            throw SuiteError.missing(
                "the fault suite needs a Kafka that it can kill: \(options.kafka) beside the repository, and there is none")
        }
        try FileManager.default.createDirectory(atPath: options.folder, withIntermediateDirectories: true)
        var report = SuiteReport()
        var shared: Broker?
        defer { shared?.end() }
        say("seed \(options.seed), scale \(options.scale), evidence in \(options.folder)")
        say(SuiteReport.header)
        for scenario in scenarios {
            let outcome = ScenarioRun(scenario: scenario, suite: options).outcome {
                if let shared { return shared }
                let broker = try Broker(
                    folder: "\(options.folder)/kafka", script: options.kafka, environment: options.environment)
                shared = broker
                return broker
            }
            say(report.add(outcome))
        }
        say(report.summary())
        if let path = options.report {
            let command = "Deploy/faults" + (options.isFast ? " --fast" : "") + options.names.map { " \($0)" }.joined()
            try report.markdown(command: "\(command) --seed \(options.seed) --scale \(options.scale)")
                .write(toFile: path, atomically: true, encoding: .utf8)
        }
        if report.passed && !options.keepsEvidence {
            shared?.end()
            shared = nil
            try? FileManager.default.removeItem(atPath: options.folder)
        }
        return report.passed
    }

    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
