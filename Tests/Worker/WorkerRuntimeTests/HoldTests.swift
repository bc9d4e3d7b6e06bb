import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Holds: nothing in their scope is begun while they stand, and everything else passes.
@Suite(.serialized, .tags(.waits, .threads))
struct HoldTests {
    private static func request(_ name: String, _ more: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(more)}"#
    }

    private static let sale = #","labels":{"campaign":"sale"}"#

    private static var saleScope: OrderScope {
        var scope = OrderScope()
        scope.labels = [.init("campaign", value: "sale")]
        return scope
    }

    private static func moment(_ bench: Bench, in milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: bench.clock.millisecondsSince1970 + milliseconds)
    }

    /// A hold that begins now and stands for `minutes`.
    private static func hold(_ scope: OrderScope, in bench: Bench, minutes: Int64 = 50) -> OrderRecord {
        let now = moment(bench, in: 0)
        return OrderRecord(
            id: "h-1234567890", kind: .hold, scope: scope, reason: "wrong text", author: "key abc", since: now,
            until: now.adding(milliseconds: minutes * 60_000))
    }

    private static func write(_ order: OrderRecord, to bench: Bench) throws {
        try bench.writeControl([(order.key, order.value)], at: bench.clock.millisecondsSince1970)
    }

    private static func release(_ order: OrderRecord, in bench: Bench) throws {
        var order = order
        order.release = .init(at: moment(bench, in: 0), author: "key abc")
        try write(order, to: bench)
    }

    private static func calls(_ bench: Bench, _ name: String) -> Int { bench.hub.calls().count { $0.tags == name } }

    /// A worker that has read the control topic, after a hold was written.
    private static func start(_ bench: Bench, hasLanes: Bool = true) throws -> RunningWorker {
        try bench.startWorker { if !hasLanes { $0.topics.delays = [] } }
    }

    @Test(arguments: brokers, [true, false])
    func aHeldRequestWaitsWhileOthersPassAndIsSentOnceReleased(_ broker: Bench.Broker, _ hasLanes: Bool) throws {
        let bench = try Bench(broker, partitions: 1)
        let order = Self.hold(Self.saleScope, in: bench)
        try Self.write(order, to: bench)
        let worker = try Self.start(bench, hasLanes: hasLanes)
        try bench.publish(Self.request("held", Self.sale))
        try bench.publish(Self.request("other"))
        try bench.publish(Self.request("second", Self.sale))
        try bench.results(1)
        #expect(Self.calls(bench, "other") == 1)
        let waiting = hasLanes ? "pushfan_delayed_total" : "pushfan_retry_queue_records"
        #expect(eventually { bench.metric(waiting) == 2 })
        try Self.release(order, in: bench)
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 3 })
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.values.allSatisfy { $0["state"] == "sent" } && results.count == 3)
        #expect(bench.metric("pushfan_publish_to_final_seconds_count") == 1, "what was held is not late")
        #expect(bench.hub.calls().count == 3)
        // The others were not kept until the end of the hold: lanes of ten minutes were swept.
        #expect(bench.clock.millisecondsSince1970 < order.until.milliseconds)
    }

    @Test func aHoldEndsByItself() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.hold(Self.saleScope, in: bench, minutes: 12)
        try Self.write(order, to: bench)
        let worker = try Self.start(bench)
        try bench.publish(Self.request("held", Self.sale))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try worker.stop()
        #expect(bench.clock.millisecondsSince1970 >= order.until.milliseconds)
        // The clock runs on while records go from lane to lane.
        #expect(bench.clock.millisecondsSince1970 < order.until.milliseconds + 300_000)
        #expect(Self.calls(bench, "held") == 1)
    }

    @Test func aRetryIsNotMadeWhileAHoldStands() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=5,count=1,tags=held")])
        let worker = try Self.start(bench)
        try bench.publish(Self.request("held", Self.sale))
        #expect(eventually { bench.hasRetries })
        let order = Self.hold(Self.saleScope, in: bench)
        try Self.write(order, to: bench)
        #expect(eventually { bench.metric("pushfan_orders", #"kind="hold""#) == 1 })
        #expect(bench.passTime(by: .seconds(2)) { bench.metric("pushfan_delayed_total") == 1 })
        #expect(Self.calls(bench, "held") == 1)
        try Self.release(order, in: bench)
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try worker.stop()
        #expect(Self.calls(bench, "held") == 2)
        #expect(bench.clock.millisecondsSince1970 < order.until.milliseconds, "it did not wait for the hold's own end")
    }

    @Test func aRequestThatExpiresUnderAHoldEndsWithACodeOfItsOwn() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write(Self.hold(Self.saleScope, in: bench), to: bench)
        let worker = try Self.start(bench)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let expiry = Date(timeIntervalSince1970: Double(Self.moment(bench, in: 120_000).milliseconds) / 1000).formatted(style)
        try bench.publish(Self.request("held", Self.sale + #","expires_at":"\#(expiry)""#))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        #expect(bench.passTime(by: .seconds(5)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try bench.results(1)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["held"]?["state"] == "expired")
        #expect(results["held"]?["error.code"] == "expired_on_hold")
        #expect(results["held"]?["replay_safety"] == "safe")
        #expect(bench.hub.calls().isEmpty)
    }

    @Test func requestsOfAHeldKeyKeepTheirOrder() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.hold(Self.saleScope, in: bench)
        try Self.write(order, to: bench)
        let worker = try Self.start(bench)
        let names = (0..<5).map { "k-\($0)" }
        try bench.publish(all: names.map { Self.request($0, Self.sale + #","ordering_key":"k""#) } + [Self.request("other")])
        try bench.results(1)
        #expect(bench.tags == ["other"])
        try Self.release(order, in: bench)
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 6 })
        try worker.stop()
        #expect(bench.tags == ["other"] + names)
        #expect(bench.clock.millisecondsSince1970 < order.until.milliseconds, "it did not wait for the hold's own end")
    }

    @Test func aHoldOfOneRequestMeansItsParts() throws {
        let bench = try Bench(.quickest, partitions: 1)
        var scope = OrderScope()
        scope.request = "large"
        let order = Self.hold(scope, in: bench)
        try Self.write(order, to: bench)
        let worker = try Self.start(bench)
        let users = (0..<45).map { #""user-\#($0)""# }.joined(separator: ",")
        try bench.publish(
            #"{"id":"large","audience":{"users":[\#(users)]},"platforms":["apple"],"message":{"title":"T"}}"#)
        try bench.publish(Self.request("other"))
        try bench.results(1)
        #expect(bench.tags == ["other"])
        try Self.release(order, in: bench)
        #expect(bench.passTime(by: .seconds(1)) { bench.hub.calls().count > 1 })
        try worker.stop()
    }

    @Test func aHoldOfAHubLeavesOtherHubsAlone() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let north = try FurtherHub("north")
        var scope = OrderScope()
        scope.hub = "north"
        let order = Self.hold(scope, in: bench)
        try Self.write(order, to: bench)
        let worker = try bench.startWorker { $0.hubs.append(try north.settings()) }
        try bench.publish(Self.request("held", #","hub":"north""#))
        try bench.publish(Self.request("other", #","hub":"demo""#))
        try bench.results(1)
        #expect(bench.tags == ["other"] && north.tags.isEmpty)
        try Self.release(order, in: bench)
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 2 })
        try worker.stop()
        #expect(north.tags == ["held"])
        #expect(bench.clock.millisecondsSince1970 < order.until.milliseconds, "it did not wait for the hold's own end")
    }

    /// What waits in lanes for its own time waits on, after the lanes were swept.
    @Test func aSweepSendsNothingBeforeItsTime() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.hold(Self.saleScope, in: bench)
        try Self.write(order, to: bench)
        let worker = try Self.start(bench)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let start = Self.moment(bench, in: 1_500_000)
        let text = Date(timeIntervalSince1970: Double(start.milliseconds) / 1000).formatted(style)
        try bench.publish(Self.request("early", #","not_before":"\#(text)""#))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        try bench.publish(Self.request("held", Self.sale))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 2 })
        try Self.release(order, in: bench)
        #expect(bench.passTime(by: .milliseconds(20)) { Self.calls(bench, "held") == 1 })
        #expect(Self.calls(bench, "early") == 0)
        #expect(bench.passTime(by: .seconds(10)) { Self.calls(bench, "early") == 1 })
        try worker.stop()
        #expect(bench.clock.millisecondsSince1970 >= start.milliseconds)
    }
}
