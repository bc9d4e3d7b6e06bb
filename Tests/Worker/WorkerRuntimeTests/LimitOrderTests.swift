import Delivery
import Foundation
import HubEmulator
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Limits that orders set while workers run.
@Suite(.serialized, .tags(.waits, .threads))
struct LimitOrderTests {
    private static func request(_ name: String, of tenant: String, _ members: String = "") -> String {
        #"{"id":"\#(name)","tenant":"\#(tenant)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"#
            + #""message":{"title":"T"}\#(members)}"#
    }

    private static func order(_ bench: Bench, _ rate: Int, _ narrow: (inout OrderScope) -> Void) -> OrderRecord {
        var scope = OrderScope()
        narrow(&scope)
        return OrderRecord(
            id: "l-limit-\(rate)", kind: .limit(callsPerSecond: rate), scope: scope, reason: "flood", author: "ops",
            since: Timestamp(milliseconds: bench.clock.millisecondsSince1970))
    }

    private static func write(_ order: OrderRecord, to bench: Bench) throws { try bench.writeControl([(order.key, order.value)]) }

    private static func release(_ order: OrderRecord, of bench: Bench) throws {
        var order = order
        order.release = .init(at: Timestamp(milliseconds: bench.clock.millisecondsSince1970), author: "ops")
        try write(order, to: bench)
    }

    private static func calls(_ bench: Bench, _ prefix: String) -> Int {
        bench.hub.calls().count { $0.tags?.hasPrefix(prefix) ?? false }
    }

    /// The lowest rate of a call in a second, so that a second brings one of its calls: what others get meanwhile shows that they pass.
    @Test func othersPassATenantWithALimit() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write(Self.order(bench, 1) { $0.tenant = "acme" }, to: bench)
        let worker = try bench.startWorker()
        try bench.publish(
            all: (0..<100).map { Self.request("acme\($0)", of: "acme") }
                + (0..<100).map { Self.request("other\($0)", of: "other") })
        #expect(eventually { Self.calls(bench, "other") == 100 })
        #expect(Self.calls(bench, "acme") < 100)
        try worker.stop()
    }

    @Test func aLimitThatIsReleasedHoldsNothingBack() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.order(bench, 1) { $0.tenant = "acme" }
        try Self.write(order, to: bench)
        let worker = try bench.startWorker { $0.topics.delays = [] }
        try bench.publish(all: (0..<200).map { Self.request("acme\($0)", of: "acme") })
        #expect(eventually { Self.calls(bench, "acme") > 0 })
        #expect(Self.calls(bench, "acme") < 200)
        try Self.release(order, of: bench)
        #expect(eventually { Self.calls(bench, "acme") == 200 })
        try worker.stop()
        #expect(try bench.resultsByRequest().values.filter { $0["state"] != "sent" }.isEmpty)
    }

    @Test func aHubWithoutARateGetsThatOfAnOrderWhileItStands() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.order(bench, 40) { $0.hub = "demo" }
        let worker = try bench.startWorker()
        func rate() -> Double? { bench.status.statuses.first?.hubs.first?.ratePerSecond }
        try Self.write(order, to: bench)
        #expect(eventually { rate() == 40 }, "one worker has all partitions")
        try Self.release(order, of: bench)
        #expect(eventually { rate() == nil })
        try worker.stop()
    }

    @Test func whatWaitsForALimitIsCancelledAtOnce() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write(Self.order(bench, 1) { $0.tenant = "acme" }, to: bench)
        let worker = try bench.startWorker { $0.topics.delays = [] }
        try bench.publish(all: (0..<50).map { Self.request("acme\($0)", of: "acme") })
        #expect(eventually { Self.calls(bench, "acme") > 0 })
        try bench.cancel((0..<50).map { "acme\($0)" })
        try expectEnds(bench, as: "cancelled", of: 50)
        try worker.stop()
    }

    @Test func whatWaitsForALimitExpiresInTime() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write(Self.order(bench, 1) { $0.tenant = "acme" }, to: bench)
        let worker = try bench.startWorker { $0.topics.delays = [] }
        let expiry = Date(timeIntervalSince1970: Double(bench.clock.millisecondsSince1970) / 1000 + 600)
        let member = #","expires_at":"\#(expiry.formatted(.iso8601))""#
        try bench.publish(all: (0..<50).map { Self.request("acme\($0)", of: "acme", member) })
        #expect(eventually { Self.calls(bench, "acme") > 0 })
        bench.clock.advance(by: .seconds(601))
        try expectEnds(bench, as: "expired", of: 50)
        try worker.stop()
    }

    /// All requests have their result: those that were called are sent, and the others ended otherwise.
    private func expectEnds(_ bench: Bench, as state: String, of count: Int) throws {
        try bench.results(count)
        let states = try bench.resultsByRequest().values.map { $0["state"] ?? "" }
        let ended = states.count { $0 == state }
        #expect(ended > 0 && ended + Self.calls(bench, "acme") == count)
        #expect(states.count { $0 == "sent" } + ended == count)
    }
}
