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

    @Test(arguments: [
        (0.0, "0.0"), (0.004, "0.004"), (0.000_42, "0.00042"), (-0.03, "-0.03"), (0.0999, "0.1"), (1.234, "1.23"),
        (12.34, "12.3"),
        (20_000, "20000"), (123.45, "123.5"), (1e20, "1e+20"), (.infinity, "inf"),
    ])
    func numbersHaveAsManyDigitsAsTheyDeserve(number: Double, text: String) {
        #expect(NumberText.text(number) == text)
    }

    @Test(arguments: [1e-3, 1e-6, 1e-9, 1e-12, 1e-20, 1e-300, .leastNonzeroMagnitude])
    func noNumberIsShownAsZeroThatIsNot(number: Double) {
        #expect(Double(NumberText.text(number)) != 0)
        #expect(Double(NumberText.percent(number).dropLast(2)) != 0)
    }

    @Test(arguments: [(0.0, "0 %"), (0.004, "0.4 %"), (0.01, "1 %"), (0.256, "26 %"), (3.5, "350 %")])
    func sharesBelowOnePercentKeepTheirDigits(share: Double, text: String) {
        #expect(NumberText.percent(share) == text)
    }

    @Test func aFigureThatWasNotMeasuredIsAbsent() throws {
        var figures = Figures()
        figures.latency.publishToHub = Spread([])
        (figures.backlog.hubMilliseconds, figures.backlog.inFlightFullShare) = (nil, nil)
        let report = figures.report
        let lines = ReportText(Streams.Traits()).lines(report)
        for name in ["publish → hub call", "hub call", "in flight full"] {
            let line = try #require(lines.first { $0.hasPrefix(name) })
            #expect(line.dropFirst(name.count).split(separator: " ").first == "-")
        }
        let json = try ReportFile.text(ReportFile(report: report))
        #expect(!json.contains("publish_to_hub"))
        #expect(!Comparison(report, to: report).rows.contains { $0.figure.hasPrefix("to hub call") })
        #expect(!report.advice.contains { $0.setting.hasPrefix("worker.max_in_flight") })
    }

    @Test(arguments: [1000, 100_000], [10.0, 2000])
    func latencyIsMeasuredWithRequestsThatTheWorkerHasNotSeen(requests: Int, rate: Double) {
        let numbers = WholeBench.Plan(requests: requests, partitions: 8, rate: rate).latencyNumbers(rate: rate)
        #expect(!numbers.isEmpty)
        #expect(!numbers.overlaps(0..<requests))
    }
}
