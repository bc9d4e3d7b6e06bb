import Bench
import Console
import Foundation
import TestSupport
import Testing

@Suite struct SizeCommandTests {
    private static let example = "size --requests 2000/s --peak 20000/s --hub-latency 60ms --users 1e6"

    private func run(_ line: String) -> CommandOutcome { CommandOutcome(line, of: [.size]) }

    @Test func theHelpHasThreeExamplesAndFitsAHundredColumns() {
        let page = run("size --help")
        #expect(page.code == .done)
        #expect(Command.size.examples.count >= 3)
        #expect(page.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test func eachFigureHasItsArithmetic() {
        let outcome = run(Self.example)
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains("21,000/s × 60 ms"))
        #expect(outcome.output.contains("recorded on 2026-11-26"))
        #expect(outcome.messages.isEmpty)
    }

    @Test func theExampleOfThePageIsWhatTheProgramPrints() throws {
        let difference = try GeneratedPage("Operations").difference("output") { line in
            ["```"] + run(line).output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) + [
                "```"
            ]
        }
        #expect(difference == nil)
        #expect(try GeneratedPage("Operations").parts(of: "output") == [Self.example])
    }

    @Test func jsonHasTheSameFiguresAsNumbers() throws {
        let outcome = run(Self.example + " -o json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let figures = try #require(report["figures"] as? [[String: Any]])
        #expect(figures.first { $0["name"] as? String == "workers" }?["value"] as? Int == 2)
        let topics = try #require(report["topics"] as? [[String: Any]])
        #expect(topics.first { $0["topic"] as? String == "push.held.v1" }?["partitions"] as? Int == 36)
        #expect(try #require(topics.first { $0["topic"] as? String == "push.held.v1" })["bytes"] == nil)
        let cost = try #require(report["cost"] as? [String: Any])
        #expect(cost["microseconds"] as? Int == 12)
    }

    @Test(arguments: [("2000", "2000/s"), ("120000/m", "2000/s"), ("7.2e6/h", "2000/s"), ("1.728e8/d", "2000/s")])
    func ratesMayHaveAnyUnit(rate: String, same: String) {
        #expect(run("size --requests \(rate)").output == run("size --requests \(same)").output)
    }

    @Test(arguments: [
        "", "--requests 0", "--requests -5", "--requests nan", "--requests inf", "--requests 1e308", "--requests 1e999",
        "--requests 0x10", "--requests /s", "--requests 20/y", "--requests .", "--requests e", "--requests 1e8",
        "--requests 20 --peak 10", "--requests 20 --hub-latency 60", "--requests 20 --hub-latency 0ms",
        "--requests 20 --hub-latency 1e308s", "--requests 20 --users -1", "--requests 20 --users 1e10",
        "--requests 20 --payload 2MiB", "--requests 20 --payload 1KB", "--requests 20 --retention 0d",
        "--requests 20 --platforms 0", "--requests 20 --platforms 9", "--requests 20 --replication 99999999999999999999",
        "--requests 20 --utilisation 0%", "--requests 20 --utilisation 101%", "--requests 20 --utilisation 60",
        "--requests 20 --retries 101%", "--requests 20 --cores 65", "--requests 20 -o csv", "--requests 20 extra",
        "--requests 20 --report /nowhere", "--requests 20 --report /nowhere --measure",
    ])
    func aDemandThatNobodyHasIsAUsageFailure(flags: String) {
        let outcome = run("size " + flags)
        #expect(outcome.code == .usage, "\(outcome.messages)")
        #expect(outcome.output.isEmpty)
    }

    @Test func theCostOfACallMayComeFromARunOfBench() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UInt32.random(in: 0 ... .max)).json")
        defer { try? FileManager.default.removeItem(at: path) }
        let report = """
            {"report":{"version":"1","stages":[],"advice":[],"setting":{"broker":"embedded","guarantee":"at_least_once","requests":1000,\
            "partitions":8,"max_in_flight":64,"max_connections":0,"commit_interval_milliseconds":60,"log_level":"info",\
            "processor_count":4},"backlog":{"requests":1000,"steady_requests":800,"requests_per_second":20000,\
            "user_microseconds":80,"system_microseconds":40,"processor_share":1,"peak_memory_mebibytes":70,\
            "logged_bytes_per_request":0,"failed_requests":0,"seconds_to_start":1}}}
            """
        try Data(report.utf8).write(to: path)
        let outcome = run(Self.example + " --report \(path.path)")
        #expect(outcome.code == .done, "\(outcome.messages)")
        #expect(outcome.output.contains("A call takes 120 µs"))
        #expect(outcome.output.contains("4 processors, embedded broker, at_least_once"))
        #expect(outcome.output.contains("21,000/s × 120 µs ÷ 60 % = 4.2"))
    }
}
