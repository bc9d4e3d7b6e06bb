import Bench
import Console
import Testing

@Suite struct BenchCommandTests {
    /// Runs a command line of which nothing may be measured.
    private func run(_ line: String) -> CommandOutcome { CommandOutcome(line, of: [.bench]) }

    @Test func theHelpHasThreeExamplesAndFitsAHundredColumns() {
        let page = run("bench --help")
        #expect(page.code == .done)
        #expect(Command.bench.examples.count >= 3)
        #expect(page.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        for flag in [
            "--kafka", "--requests", "--in-flight", "--partitions", "--stages", "--compare", "--output",
        ] {
            #expect(page.output.contains(flag))
        }
    }

    @Test(arguments: [
        "bench --requests 10", "bench --partitions 0", "bench --fixed 0", "bench --rate 1", "bench --compare /nowhere",
        "bench --requests 50000 --partitions 1", "bench --loop 9", "bench --loop 10001",
        "bench extra", "bench -o ndjson",
    ])
    func whatCannotBeMeasuredIsAUsageFailure(line: String) {
        let outcome = run(line)
        #expect(outcome.code == .usage, "\(outcome.messages)")
        #expect(outcome.output.isEmpty)
    }

    @Test(arguments: ["--worker.max_in_flight", "--in-flight"])
    func aWrongSettingIsToldByTheFlagThatTheUserGave(flag: String) {
        let outcome = run("bench \(flag) 0")
        #expect(outcome.code == .configuration)
        #expect(outcome.messages.contains("\(flag): worker.max_in_flight"))
        #expect(!outcome.messages.contains("measuring"))
    }

    @Test func aBrokerThatDoesNotAnswerIsToldBeforeAnythingIsMeasured() {
        let outcome = run("bench --kafka 127.0.0.1:1")
        #expect(outcome.code == .unreachable)
        #expect(outcome.messages.contains("give the right address with --kafka"))
        #expect(!outcome.messages.contains("measuring"))
    }

    @Test func theFixedRunSaysWhatItCounted() {
        let outcome = run("bench --fixed 50")
        #expect(outcome.code == .done)
        #expect(outcome.output.contains(#""requests" : 50"#))
    }

    @Test func theLoopIsTakenThroughItsCourses() {
        let outcome = run("bench --loop 10 --partitions 2")
        #expect(outcome.code == .done, "\(outcome.messages)")
        let names = outcome.output.split(separator: "\n").filter { $0.contains(#""name""#) }
        #expect(names.map { $0.split(separator: "\"")[3] } == ["start", "requests", "commits", "turns", "seconds"])
        #expect(outcome.output.contains(#""partitions" : 2"#))
    }
}
