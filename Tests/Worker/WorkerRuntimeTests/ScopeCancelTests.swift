import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Cancellations of a scope: what was published until their moment and not begun ends, once, and what comes later is sent.
@Suite(.serialized, .tags(.waits, .threads))
struct ScopeCancelTests {
    private static let sale = #","labels":{"campaign":"sale"}"#

    private static func request(_ name: String, _ more: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(more)}"#
    }

    private static func moment(_ bench: Bench, in milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: bench.clock.millisecondsSince1970 + milliseconds)
    }

    private static func later(_ bench: Bench) -> String { #","not_before":"\#(moment(bench, in: 1_800_000).text)""# }

    /// Cancels what has the label of the sale and was published between two moments from now.
    private static func cancel(_ bench: Bench, from: Int64? = nil, until: Int64 = 0, hub: String? = nil) throws {
        var scope = OrderScope()
        scope.labels = [.init("campaign", value: "sale")]
        scope.hub = hub
        let order = OrderRecord(
            id: "c-1234567890", kind: .cancel(publishedFrom: from.map { moment(bench, in: $0) }), scope: scope,
            reason: "wrong text",
            author: "key abc", since: moment(bench, in: until))
        try bench.writeControl([(order.key, order.value)], at: bench.clock.millisecondsSince1970)
    }

    @Test func whatWaitsInMemoryEndsAtOnceAndOthersWaitOn() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=300,count=1,tags=retrying")])
        let worker = try bench.startWorker { $0.topics.delays = [] }
        try bench.publish(Self.request("retrying", Self.sale))
        try bench.publish(Self.request("later", Self.sale + Self.later(bench)))
        try bench.publish(Self.request("other", Self.later(bench)))
        #expect(eventually { bench.metric("pushfan_retry_queue_records") == 3 && bench.hasRetries })
        try Self.cancel(bench)
        try bench.results(2)
        #expect(bench.metric("pushfan_retry_queue_records") == 1)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for (name, attempts) in [("later", 0), ("retrying", 1)] {
            #expect(results[name]?.summary == "cancelled cancelled cancelled \(attempts)", "\(name)")
            #expect(results[name]?["error.message"] == "cancelled: wrong text")
            #expect(bench.hub.calls().count { $0.tags == name } == attempts)
        }
        #expect(results["other"] == nil)
    }

    /// The order stands before the worker starts.
    @Test(
        arguments: [(nil, 60_000, true), (nil, -60_000, false), (-60_000, 60_000, true), (30_000, 60_000, false)]
            as [(Int64?, Int64, Bool)])
    func onlyWhatWasPublishedBetweenItsMomentsEnds(_ from: Int64?, _ until: Int64, _ isMeant: Bool) throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.cancel(bench, from: from, until: until)
        try bench.publish(Self.request("sale", Self.sale))
        try bench.publish(Self.request("other"))
        let worker = try bench.startWorker()
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["sale"]?["state"] == (isMeant ? "cancelled" : "sent"))
        #expect(results["other"]?["state"] == "sent")
        #expect(bench.hub.calls().count == (isMeant ? 1 : 2))
    }

    @Test func anotherHubsRequestsGoOn() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.cancel(bench, until: 60_000, hub: "no such hub")
        try bench.publish(Self.request("sale", Self.sale))
        let worker = try bench.startWorker()
        try bench.results(1)
        try worker.stop()
        #expect(try bench.resultsByRequest()["sale"]?["state"] == "sent")
    }

    @Test func aRequestWithAKeyThatWaitsIsReadForIt() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let key = #","ordering_key":"k""#
        try bench.publish(Self.request("first", Self.sale + key + Self.later(bench)))
        #expect(try eventually { try bench.readAll(bench.topics.held).count == 1 })
        try Self.cancel(bench)
        #expect(eventually { bench.metric("pushfan_requests_finished_total") == 1 })
        try worker.stop()
        #expect(try bench.resultsByRequest()["first"]?["error.message"] == "cancelled: wrong text")
        #expect(bench.hub.calls().isEmpty)
    }
}
