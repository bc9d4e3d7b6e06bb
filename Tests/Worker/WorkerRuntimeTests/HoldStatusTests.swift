import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Holds as a worker's status and metrics show them.
@Suite(.serialized, .tags(.waits, .threads))
struct HoldStatusTests {
    private static let id = "h-1234567890"

    private static func request(_ name: String, _ more: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["fcmv1"],"message":{"title":"T"}\#(more)}"#
    }

    private static func hold(_ bench: Bench, _ narrow: (inout OrderScope) -> Void = { _ in }) -> OrderRecord {
        var scope = OrderScope.everything
        narrow(&scope)
        let now = Timestamp(milliseconds: bench.clock.millisecondsSince1970)
        return OrderRecord(
            id: id, kind: .hold, scope: scope, reason: "wrong text", author: "key abc", since: now,
            until: now.adding(milliseconds: 2 * 3_600_000))
    }

    private static func write(_ order: OrderRecord, to bench: Bench, isReleased: Bool = false) throws {
        var order = order
        if isReleased {
            order.release = .init(at: Timestamp(milliseconds: bench.clock.millisecondsSince1970), author: "key abc")
        }
        try bench.writeControl([(order.key, order.value)], at: bench.clock.millisecondsSince1970)
    }

    private static func orders(_ bench: Bench) -> [LoopStatus.Order]? { bench.status.statuses.first?.orders }

    private static let waiting = #"order="h-1234567890",kind="hold""#

    /// However long it stands, neither age by which workers are scaled grows.
    @Test func whatAHoldKeepsIsCountedUnderItAndIsNoBacklog() throws {
        // A broker refuses what is more than an hour ahead.
        let bench = try Bench(.embedded, partitions: 1)
        let order = Self.hold(bench) { $0.tenant = "acme" }
        try Self.write(order, to: bench)
        let worker = try bench.startWorker()
        #expect(eventually { Self.orders(bench) == [.init(id: Self.id, kind: "hold", waiting: 0)] })
        try bench.publish(
            all: [
                Self.request("a", #","tenant":"acme""#), Self.request("b", #","tenant":"acme","ordering_key":"k""#),
                Self.request("c", #","tenant":"acme","ttl_seconds":5400"#), Self.request("other", #","tenant":"shop""#),
            ])
        try bench.results(1)
        #expect(eventually { Self.orders(bench)?.first?.waiting == 3 })
        #expect(eventually { bench.metric("pushfan_held_waiting", Self.waiting) == 3 })
        for _ in 0..<10 { bench.clock.advance(by: .seconds(6 * 60)) }
        #expect(eventually { bench.metric("pushfan_hold_age_seconds", #"kind="hold""#) >= 3600 })
        #expect(eventually { (1...1800).contains(bench.metric("pushfan_hold_expiring_seconds", #"kind="hold""#)) })
        #expect(eventually { bench.metric("pushfan_oldest_waiting_seconds") == 0 })
        #expect(eventually { bench.metric("pushfan_consumer_lag_seconds") == 0 })
        #expect(Self.orders(bench)?.first?.waiting == 3, "one that goes on from lane to lane counts once")
        let status = String(decoding: bench.status.json(version: "1", hub: "demo"), as: UTF8.self)
        #expect(status.contains(#""orders":[{"id":"h-1234567890","kind":"hold","waiting":3}]"#))
        try Self.write(order, to: bench, isReleased: true)
        #expect(eventually { Self.orders(bench) == [] })
        #expect(eventually { !bench.exposition().contains("pushfan_held_waiting{") })
        #expect(!bench.exposition().contains("pushfan_hold_age_seconds{"))
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 4 })
        try worker.stop()
    }

    @Test func whatExpiresUnderAHoldHasACounter() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write(Self.hold(bench) { $0.tenant = "acme" }, to: bench)
        let worker = try bench.startWorker()
        try bench.publish(
            all: [
                Self.request("held", #","tenant":"acme","ttl_seconds":120"#), Self.request("other", #","tenant":"shop""#),
            ])
        #expect(eventually { bench.metric("pushfan_held_waiting", Self.waiting) == 1 })
        #expect(bench.passTime(by: .seconds(5)) { bench.metric("pushfan_requests_finished_total") == 2 })
        #expect(bench.metric("pushfan_expired_on_hold_total") == 1)
        try worker.stop()
    }

    /// Nothing is asked of a hub that is held, and so no question waits.
    @Test func aQuestionForAnOutcomeDoesNotWaitWhileItsHubIsHeld() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.hub.register(EmulatedDevice(id: "d", platform: "fcmv1", handle: "handle", tags: ["asked"]))
        let worker = try bench.startWorker()
        try bench.publish(Self.request("asked", #","options":{"track_outcome":true}"#))
        try bench.results(1)
        let order = Self.hold(bench)
        try Self.write(order, to: bench)
        #expect(eventually { Self.orders(bench)?.count == 1 })
        for _ in 0..<10 { bench.clock.advance(by: .seconds(60)) }
        #expect(eventually { bench.metric("pushfan_hold_age_seconds", #"kind="hold""#) >= 600 })
        #expect(bench.metric("pushfan_outcome_polls_total") == 0)
        #expect(eventually { bench.metric("pushfan_oldest_waiting_seconds") == 0 })
        try Self.write(order, to: bench, isReleased: true)
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_outcome_polls_total") >= 1 })
        try worker.stop()
    }
}
