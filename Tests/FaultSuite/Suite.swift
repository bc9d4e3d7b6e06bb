import Dispatch
import Foundation
import Glibc
import Synchronization

/// The whole suite: scenarios one after the other or several at once, a line for each, and the tables at the end.
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
        say("seed \(options.seed), scale \(options.scale), evidence in \(options.folder)")
        say(SuiteReport.header)
        let report = runAll()
        say(report.summary())
        if let path = options.report {
            let command = "Deploy/faults" + (options.isFast ? " --fast" : "") + options.names.map { " \($0)" }.joined()
            try report.markdown(command: "\(command) --seed \(options.seed) --scale \(options.scale)")
                .write(toFile: path, atomically: true, encoding: .utf8)
        }
        if report.passed && !options.keepsEvidence { try? FileManager.default.removeItem(atPath: options.folder) }
        return report.passed
    }

    /// Several threads take one scenario after the other, so that all are done at about the same time. Each has a shared broker of its
    /// own, because a scenario may make the proxy before it cut connections.
    private func runAll() -> SuiteReport {
        let waiting = Mutex(scenarios[...])
        let report = Mutex(SuiteReport())
        DispatchQueue.concurrentPerform(iterations: options.atOnce) { thread in
            var shared: Broker?
            defer { shared?.end() }
            while let scenario = waiting.withLock({ $0.popFirst() }) {
                let outcome = ScenarioRun(scenario: scenario, suite: options).outcome {
                    if let shared { return shared }
                    let broker = try Broker(
                        folder: "\(options.folder)/kafka-\(thread + 1)", script: options.kafka, environment: options.environment)
                    shared = broker
                    return broker
                }
                report.withLock { say($0.add(outcome)) }
            }
        }
        return report.withLock { $0 }
    }

    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
