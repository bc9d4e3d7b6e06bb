import Kafka
import PushModel
import Testing

@testable import Groups
@testable import KafkaCare

/// Holds and limits that stand, as reports tell of them.
@Suite struct StandingOrdersTests {
    /// 2026-11-21T13:48:00Z.
    private static let now = Timestamp(milliseconds: 1_795_268_880_000)

    private static func order(
        _ id: String, _ kind: OrderRecord.Kind = .hold, hub: String? = "north", age minutes: Int64 = 5, until: Int64 = 12
    ) -> OrderRecord {
        var scope = OrderScope()
        scope.hub = hub
        return OrderRecord(
            id: id, kind: kind, scope: scope, reason: "wrong text", author: "key abc",
            since: now.adding(milliseconds: -minutes * 60_000), until: now.adding(milliseconds: until * 60_000))
    }

    private static func book(_ orders: [OrderRecord]) -> OrderBook {
        var book = OrderBook()
        for order in orders { _ = book.orders.take(order, now: now) }
        return book
    }

    private static func page(_ orders: String?) throws -> WorkerPage {
        try #require(WorkerPage(Array(#"{"version":"1.4.0"\#(orders.map { ",\"orders\":\($0)" } ?? ""),"loops":[]}"#.utf8)))
    }

    private static func standing(_ orders: [OrderRecord], pages: [(String, String?)] = []) throws -> StandingOrders {
        StandingOrders(book(orders), workers: try pages.map { (name: $0.0, page: try page($0.1)) }, now: now)
    }

    @Test(
        arguments: [
            (order("h-aaaaaa"), nil, "held: hub:north until 14:00:00Z (12 min) by key abc: wrong text"),
            (order("h-aaaaaa"), 120, "held: hub:north until 14:00:00Z (12 min) by key abc: wrong text; 120 wait"),
            (order("h-aaaaaa"), 1, "held: hub:north until 14:00:00Z (12 min) by key abc: wrong text; 1 waits"),
            (
                order("l-aaaaaa", .limit(callsPerSecond: 5), hub: nil, until: 1500), 0,
                "limited to 5 calls a second: everything until 2026-11-22T14:48:00Z (1 d 1 h) by key abc: wrong text; 0 wait"
            ),
            (order("h-aaaaaa", until: 125), nil, "held: hub:north until 15:53:00Z (2 h 5 min) by key abc: wrong text"),
        ] as [(OrderRecord, Int?, String)])
    func anOrderIsOneLine(order: OrderRecord, waiting: Int?, line: String) {
        #expect(order.standingText(at: Self.now, waiting: waiting) == line)
    }

    @Test func whatWaitsIsTheSumOfTheWorkersThatNameTheOrder() throws {
        let orders = try Self.standing(
            [
                Self.order("h-aaaaaa"), Self.order("h-bbbbbb", age: 2),
                Self.order("c-cccccc", .cancel(publishedFrom: nil), until: 60),
            ],
            pages: [
                ("w1", #"[{"id":"h-aaaaaa","kind":"hold","waiting":100}]"#),
                ("w2", #"[{"id":"h-aaaaaa","kind":"hold","waiting":20}]"#),
                ("w3", "[]"), ("old", nil),
            ])
        #expect(orders.entries.map(\.order.id) == ["h-bbbbbb", "h-aaaaaa"], "a cancellation holds nothing")
        #expect(orders.entries.map(\.waiting) == [nil, 120])
        #expect(orders.ignorant.map(\.worker) == ["old"] && orders.ignorant.first?.version == "1.4.0")
        let json = orders.json.map { String(decoding: $0, as: UTF8.self) }
        #expect(json.last?.contains(#""id":"h-aaaaaa","kind":"hold""#) == true)
        #expect(json.last?.hasSuffix(#""state":"standing","text":"hub:north","seconds_left":720,"waiting":120}"#) == true)
    }

    @Test func whereNoOrderStandsNoWorkerIsNamed() throws {
        let orders = try Self.standing([Self.order("h-aaaaaa", until: -1)], pages: [("old", nil)])
        #expect(orders.entries.isEmpty && orders.ignorant.isEmpty)
        #expect(OrderFindings.of(orders, topic: "c").isEmpty)
    }

    @Test func aReportOfAVersionBeforeKnowsNoOrders() throws {
        #expect(try Self.page(nil).orders == nil && Self.page("7").orders == nil && Self.page("[]").orders == [])
        let orders = try Self.page(#"[{"id":"h-aaaaaa","kind":"hold","waiting":3},{"kind":"hold"},5]"#).orders
        #expect(orders == [.init(id: "h-aaaaaa", kind: "hold", waiting: 3)])
        let forged = [String](repeating: #"{"id":"h"}"#, count: 2500).joined(separator: ",")
        #expect((256...1500).contains(try Self.page("[\(forged)]").orders?.count ?? 0))
    }

    @Test(arguments: [(59, Finding.State.ok), (60, .ok), (61, .warning)] as [(Int64, Finding.State)])
    func aHoldIsAWarningOnceItStandsForLongerThanAnHour(minutes: Int64, state: Finding.State) throws {
        let findings = OrderFindings.of(try Self.standing([Self.order("h-aaaaaa", age: minutes)]), topic: "c")
        #expect(findings.map(\.state) == [state] && findings.first?.subject == "h-aaaaaa")
        #expect(findings.first?.text.hasSuffix("held: hub:north until 14:00:00Z (12 min) by key abc: wrong text") == true)
        #expect(findings.first?.remedy == (state == .warning ? "pushfan release h-aaaaaa" : nil))
    }

    @Test func workersThatKnowNoHoldsAndRecordsThatNobodyObeysAreWarnings() throws {
        var book = Self.book([Self.order("h-aaaaaa")])
        book.faulty = [(7, .reason)]
        let orders = StandingOrders(book, workers: [("old", try Self.page(nil))], now: Self.now)
        let findings = OrderFindings.of(orders, topic: "push.control.v1")
        #expect(findings.map(\.state) == [.ok, .warning, .warning])
        #expect(findings[1].text == "worker old (version 1.4.0) knows no holds, and goes on as if there were none")
        #expect(
            findings[2].text
                == "push.control.v1[0]: the record at offset 7 looks like an order and no worker obeys it: its reason is empty or too long"
        )
    }

    @Test func ordersThatCannotBeReadAreNotAsked() {
        #expect(OrderFindings.of(nil, topic: "c").map(\.state) == [.unasked])
    }

    @Test func ofManyOrdersTheNewestAreFindingsAndTheOthersCounted() throws {
        let findings = OrderFindings.of(
            try Self.standing((0..<30).map { Self.order("h-aaaaaa\($0)", age: Int64($0)) }), topic: "c")
        #expect(findings.count == 11 && findings.first?.subject == "h-aaaaaa0")
        #expect(findings.last?.text == "20 more stand: `pushfan holds`")
    }

    @Test func aStatusHasALineForEachOrderAndForEachWorkerThatKnowsNone() throws {
        var report = StatusReport(
            now: Self.now, groupID: "g", group: .success(.init(state: .stable, members: [])), partitions: [],
            workers: [
                .init(name: "w1", age: 500, page: .success(try Self.page(#"[{"id":"h-aaaaaa","kind":"hold","waiting":12}]"#))),
                .init(name: "old", age: 500, page: .success(try Self.page(nil))),
                .init(name: "gone", age: Fleet.staleAge + 1, page: .success(try Self.page(nil))),
            ])
        func json() -> String { String(decoding: report.json { _ in "" }, as: UTF8.self) }
        #expect(report.orderLines.isEmpty && !json().contains("\"orders\""))
        report.take(Self.book([Self.order("h-aaaaaa")]))
        #expect(
            report.orderLines == [
                "held: hub:north until 14:00:00Z (12 min) by key abc: wrong text; 12 wait",
                "worker old (version 1.4.0) knows no holds, and goes on as if there were none",
            ])
        #expect(json().contains(#""orders":[{"id":"h-aaaaaa""#))
        report.take(OrderBook())
        #expect(json().contains(#""orders":[]"#))
    }
}
