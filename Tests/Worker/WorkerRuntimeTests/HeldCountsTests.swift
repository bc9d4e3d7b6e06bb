import Delivery
import Observability
import PushModel
import Testing

@testable import WorkerRuntime

/// The requests that wait by orders, as a loop counts them.
@Suite struct HeldCountsTests {
    private static let now = Timestamp(milliseconds: 1_795_262_430_000)

    private static func order(
        _ id: String, _ kind: OrderRecord.Kind = .hold, age minutes: Int64 = 0, until: Int64 = 60
    ) -> OrderRecord {
        let since = now.adding(milliseconds: -minutes * 60_000)
        return OrderRecord(
            id: id, kind: kind, scope: .everything, reason: "wrong text", author: "key a", since: since,
            until: now.adding(milliseconds: until * 60_000))
    }

    private static func counts(_ orders: [OrderRecord], noting expiries: [(id: String, minutes: Int64?)]) -> HeldCounts {
        var counts = HeldCounts()
        counts.keep(orders)
        for (id, minutes) in expiries {
            counts.note(id, expiresAt: minutes.map { now.adding(milliseconds: $0 * 60_000) }, now: now)
        }
        return counts
    }

    @Test func eachOrderHasTheRequestsThatWaitByItTheNewestFirst() {
        let orders = [
            Self.order("h-aaaaaa", age: 5), Self.order("l-bbbbbb", .limit(callsPerSecond: 5)), Self.order("h-cccccc", age: 2),
        ]
        let counts = Self.counts(orders, noting: [("l-bbbbbb", nil), ("h-cccccc", nil), ("l-bbbbbb", 7)]).counts(at: Self.now)
        #expect(counts.map(\.id) == ["l-bbbbbb", "h-cccccc", "h-aaaaaa"])
        #expect(counts.map(\.kind) == ["limit", "hold", "hold"] && counts.map(\.waiting) == [2, 1, 0])
        #expect(counts[2].since == orders[0].since)
    }

    @Test func anOrderThatHasEndedIsForgottenAndACancellationIsNone() {
        var counts = Self.counts(
            [Self.order("h-aaaaaa"), Self.order("c-bbbbbb", .cancel(publishedFrom: nil))], noting: [("h-aaaaaa", nil)])
        #expect(counts.counts(at: Self.now).map(\.id) == ["h-aaaaaa"])
        #expect(counts.counts(at: Self.now.adding(milliseconds: 3_600_000)) == [], "it ended by itself")
        counts.keep([])
        counts.keep([Self.order("h-aaaaaa")])
        #expect(counts.counts(at: Self.now).map(\.waiting) == [0])
    }

    /// The order's record may be shown a second after the first request waits by it.
    @Test func whatWaitsBeforeTheOrderIsShownIsCounted() {
        var counts = HeldCounts()
        counts.note("h-aaaaaa", expiresAt: nil, now: Self.now)
        #expect(counts.counts(at: Self.now) == [])
        counts.keep([Self.order("h-aaaaaa")])
        #expect(counts.counts(at: Self.now).map(\.waiting) == [1])
    }

    /// A tenant's orders take no place of those that concern all.
    @Test func ofManyOrdersSomeAreToldApartAndTheOthersCounted() {
        var counts = HeldCounts()
        var orders = (0..<HeldCounts.most + 30).map { Self.order("h-order\($0)", age: Int64(200 - $0)) }
        for index in orders.indices.dropFirst() { orders[index].scope.tenant = "t" }
        counts.keep(orders)
        for order in orders { counts.note(order.id, expiresAt: nil, now: Self.now) }
        let told = counts.counts(at: Self.now)
        #expect(told.count == HeldCounts.most && counts.omittedCount == 30 && told.allSatisfy { $0.waiting == 1 })
        #expect(told.first?.id == "h-order0" && told.last?.id == "h-order31")
        counts.keep(Array(orders.prefix(40)))
        #expect(counts.counts(at: Self.now).count == 40 && counts.omittedCount == 0)
        #expect(counts.counts(at: Self.now).count { $0.waiting == 1 } == 10, "those told apart before keep their counts")
    }

    /// The first expiry is known to a minute, and never too late. What expires after the hold's end does not expire by it.
    @Test(
        arguments: [
            ([12, 40, nil], 0, 12), ([40, 12], 12, 12), ([40, 12], 13, 40), ([12], 13, nil), ([61], 0, nil), ([nil], 0, nil),
            ([], 0, nil),
            ([-5, 59], 0, 59), ([1, 59], 30, 59), ([59], 59, 59),
        ] as [([Int64?], Int64, Int64?)])
    func theNextExpiryIsThatOfTheFirstThatHasNotExpired(expiries: [Int64?], after passed: Int64, next: Int64?) throws {
        let counts = Self.counts([Self.order("h-aaaaaa")], noting: expiries.map { ("h-aaaaaa", $0) })
        let count = try #require(counts.counts(at: Self.now.adding(milliseconds: passed * 60_000)).first)
        // The present is 30 s after a whole minute.
        #expect(count.nextExpiry == next.map { Self.now.adding(milliseconds: $0 * 60_000 - 30_000) })
    }

    @Test func expiriesOfSevenDaysAreKnownInTheirOrder() throws {
        var counts = HeldCounts()
        counts.keep([Self.order("h-aaaaaa", until: 7 * 1440)])
        let expiries = (0..<500).map { Int64($0) * 20 }
        for minutes in expiries.reversed() {
            counts.note("h-aaaaaa", expiresAt: Self.now.adding(milliseconds: minutes * 60_000 + 1), now: Self.now)
        }
        for minutes in expiries {
            let count = try #require(counts.counts(at: Self.now.adding(milliseconds: minutes * 60_000)).first)
            #expect(count.nextExpiry == Self.now.adding(milliseconds: minutes * 60_000 - 30_000))
        }
    }

    @Test func theGaugesShowAllLoopsAndNothingOnceNoOrderStands() {
        let metrics = PushfanMetrics(build: BuildFacts(version: "1", commit: "c", swift: "6"), process: { ProcessReadings() })
        let gauges = OrderGauges(metrics, loops: 2)
        func text() -> String {
            var bytes: [UInt8] = []
            metrics.registry.write(into: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        let held = Self.counts([Self.order("h-aaaaaa", age: 90)], noting: [("h-aaaaaa", 10), ("h-aaaaaa", 20)])
        gauges.set(held.counts(at: Self.now), loop: 0, at: Self.now)
        gauges.set(
            Self.counts([Self.order("h-aaaaaa", age: 90)], noting: [("h-aaaaaa", 5)]).counts(at: Self.now), loop: 1, at: Self.now)
        #expect(text().contains("pushfan_held_waiting{order=\"h-aaaaaa\",kind=\"hold\"} 3\n"))
        #expect(text().contains("pushfan_hold_age_seconds{kind=\"hold\"} 5400\n"))
        #expect(text().contains("pushfan_hold_expiring_seconds{kind=\"hold\"} 270\n"))
        #expect(!text().contains("{kind=\"limit\"}"))
        for loop in 0..<2 { gauges.set([], loop: loop, at: Self.now) }
        #expect(!text().contains("pushfan_held_waiting{") && !text().contains("pushfan_hold_age_seconds{"))
        #expect(!text().contains("pushfan_hold_expiring_seconds{"))
    }
}
