import GroupPositions
import JobSupport
import Kafka
import PushModel
import Testing

@testable import Console
@testable import Groups

/// Whose requests wait, and until when.
@Suite struct StatusCausesTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    private static func shares(_ counts: KeyValuePairs<String, Int>, tenant: String? = nil) -> WaitingShares {
        var shares = WaitingShares()
        for (source, count) in counts { for _ in 0..<count { shares.add(source: source, tenant: tenant) } }
        return shares
    }

    private static func partition(
        _ number: Int32 = 0, of topic: String = "t", age: Int64, unread: Int64 = 0, shares: WaitingShares = WaitingShares()
    ) -> StatusReport.Partition {
        let since = now.adding(milliseconds: -age)
        return StatusReport.Partition(
            position: GroupPosition(TopicPartition(topic: topic, partition: number), low: 0, high: 100, committed: 0),
            oldest: since,
            owner: "w1", fromWorker: nil, isDelayed: topic == "delay", isHeld: topic == "held",
            counted: WaitingCount(requests: max(1, shares.requests), unread: unread, oldest: since, shares: shares))
    }

    private static func worker(_ loops: String, others: String = "", age: Int64 = 100) throws -> StatusReport.Worker {
        let page = Array(#"{"loops":[\#(loops)]\#(others)}"#.utf8)
        return .init(name: "w1", age: age, page: .success(try #require(WorkerPage(page))), raw: page)
    }

    private static func report(_ partitions: [StatusReport.Partition], _ workers: [StatusReport.Worker]) -> StatusReport {
        StatusReport(
            now: now, groupID: "g", group: .success(.init(state: .stable, members: [])), partitions: partitions, workers: workers)
    }

    @Test func allPartitionsOfLanesCountAndNothingThatIsDelayedOrHeld() throws {
        var report = Self.report(
            [
                Self.partition(age: 60_000, shares: Self.shares(["shop": 3, "billing": 1])),
                Self.partition(1, age: 0, shares: Self.shares(["billing": 4], tenant: "acme")),
                Self.partition(of: "delay", age: 60_000, unread: 500), Self.partition(of: "held", age: 60_000, unread: 500),
            ],
            [try Self.worker(#"{"worker":"a","finished_per_second":0.3},{"worker":"b","finished_per_second":0.1}"#)])
        let whose = ["sources: billing 5, shop 3", "tenants: acme 4, none 4"]
        #expect(report.causes == whose + ["done in about 20 s at 0.4/s, if nothing more comes"])
        report.publishedPerSecond = 0.2
        #expect(report.causes == whose + ["done in about 40 s: 0.2/s come, 0.4/s end"])
        report.publishedPerSecond = 5
        #expect(report.causes == whose + ["grows: 5/s come, 0.4/s end"])
    }

    @Test(arguments: [(9999, false), (10_000, true)] as [(Int64, Bool)])
    func whatIsJustInWorkIsNoBacklog(age: Int64, isBehind: Bool) throws {
        let report = Self.report(
            [Self.partition(age: age, shares: Self.shares(["shop": 1])), Self.partition(of: "delay", age: 60_000)],
            [try Self.worker(#"{"worker":"a","finished_per_second":0.0}"#)])
        #expect(report.causes == (isBehind ? ["sources: shop 1", "stands: 0/s end"] : []))
    }

    @Test func aSampleIsNamed() throws {
        let report = Self.report(
            [Self.partition(age: 60_000, unread: 96, shares: Self.shares(["shop": 4]))],
            [try Self.worker(#"{"worker":"a","finished_per_second":10.0}"#)])
        #expect(
            report.causes == [
                "sources: shop 4 (of the first 4 read)", "done in at most about 10 s at 10/s, if nothing more comes",
            ])
    }

    @Test(
        arguments: [
            ("", #","omitted":{"loops":1}"#, 100), (#"{"worker":"a"}"#, "", 100),
            (#"{"worker":"a","finished_per_second":10.0}"#, #","omitted":{"loops":1}"#, 100),
            (#"{"worker":"a","finished_per_second":10.0}"#, "", 60_000),
        ] as [(String, String, Int64)])
    func noEstimateIsMadeFromHalfOfTheRates(loops: String, others: String, age: Int64) throws {
        let report = Self.report(
            [Self.partition(age: 60_000, shares: Self.shares(["shop": 4]))], [try Self.worker(loops, others: others, age: age)])
        #expect(report.outlook == nil && report.causes == ["sources: shop 4"])
    }

    @Test func inJSONNamesStandAsTheyWereWritten() throws {
        var report = Self.report(
            [Self.partition(age: 0, shares: Self.shares(["a b": 2], tenant: "acme"))],
            [try Self.worker(#"{"worker":"a","finished_per_second":4.0}"#)])
        report.publishedPerSecond = 3.04
        let json = String(decoding: report.json { _ in "" }, as: UTF8.self)
        let sources = #""sources":{"first":[{"name":"a b","requests":2}],"others":0,"unnamed":0}"#
        let tenants = #""tenants":{"first":[{"name":"acme","requests":2}],"others":0,"unnamed":0}"#
        #expect(json.contains(#""waiting_by":{"requests":2,\#(sources),\#(tenants)}"#), "\(json)")
        let rates = #""finished_per_second":4.0,"published_per_second":3.0"#
        #expect(json.contains(#""outlook":{"trend":"ends","done_in_ms":2000,"at_most":false,\#(rates)}"#), "\(json)")
        report.publishedPerSecond = 40
        #expect(String(decoding: report.json { _ in "" }, as: UTF8.self).contains(#""outlook":{"trend":"grows","finished"#))
    }
}
