import Console
import Foundation
import Testing

@testable import Bench

@Suite struct ReportTests {
    @Test func aReportIsReadAsItWasWritten() throws {
        let report = Figures().report
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("report-\(UInt32.random(in: 0 ... .max)).json")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(try ReportFile.text(ReportFile(report: report)).utf8).write(to: path)
        #expect(try ReportFile.read(path.path) == report)
    }

    @Test func aFileThatIsMissingOrNoReportIsTheCallersMistake() {
        for path in ["/nowhere/before.json", "/proc/self/status"] {
            #expect { try ReportFile.read(path) } throws: { ($0 as? CommandFailure)?.code == .usage }
        }
    }

    @Test func aComparisonHasTheRatioOfEachFigureToTheEarlierOne() throws {
        var figures = Figures()
        let before = figures.report
        figures.stages[0].microseconds = 1
        figures.backlog.requestsPerSecond = 30_000
        let rows = Comparison(figures.report, to: before).rows
        #expect(try #require(rows.first { $0.figure == "parse µs" }).ratio == 0.5)
        #expect(try #require(rows.first { $0.figure == "worker requests/s" }).ratio == 1.5)
        #expect(try #require(rows.first { $0.figure == "parse allocations" }).ratio == nil)
        #expect(try #require(rows.first { $0.figure == "to result p99 ms" }).ratio == 1)
    }

    @Test func whatOnlyOneReportHasIsNotCompared() {
        var before = Figures().report
        before.backlog = nil
        before.stages.removeFirst()
        let figures = Comparison(Figures().report, to: before).rows.map(\.figure)
        #expect(!figures.contains("parse µs"))
        #expect(!figures.contains("worker requests/s"))
        #expect(figures.contains("result µs"))
    }

    @Test func otherConditionsAreNamed() {
        var figures = Figures()
        let before = figures.report
        figures.setting.maxInFlight = 128
        figures.setting.broker = "127.0.0.1:9092"
        #expect(
            Comparison(figures.report, to: before).differences == [
                "broker: 127.0.0.1:9092, before embedded", "in flight: 128, before 64",
            ])
        #expect(Comparison(before, to: before).differences.isEmpty)
    }

    @Test func theSumHoldsOnlyWhatEveryRequestNeeds() throws {
        let lines = ReportText(Streams.Traits()).lines(Figures().report)
        let sum = try #require(lines.first { $0.hasPrefix("sum ") })
        #expect(sum.split(separator: " ").dropFirst().prefix(3) == ["5.0", "0.0", "1.0"])
        #expect(lines.contains { $0.hasPrefix("(log) ") })
    }

    @Test func adviceIsShownWithItsReason() {
        let report = Figures().report
        let text = ReportText(Streams.Traits()).lines(report).joined(separator: "\n")
        #expect(report.advice.count == 3)
        for advice in report.advice {
            #expect(text.contains(advice.setting))
            #expect(text.contains("because " + advice.reason))
        }
    }

    @Test(arguments: [(0.004, "0.0"), (1.234, "1.23"), (12.34, "12.3"), (20_000, "20000"), (123.45, "123.5")])
    func numbersHaveAsManyDigitsAsTheyDeserve(number: Double, text: String) {
        #expect(NumberText.text(number) == text)
    }
}
