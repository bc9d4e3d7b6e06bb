import Delivery
import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// What a worker says that its calls wait for, while they do.
@Suite(.serialized, .tags(.waits, .threads))
struct LimitedByTests {
    private static func requests(_ count: Int, _ members: String = "") -> [String] {
        (0..<count).map {
            #"{"id":"r\#($0)","tenant":"acme","audience":{"categories":["r\#($0)"]},"platforms":["apple"],"message":{"title":"T"}"#
                + "\(members)}"
        }
    }

    private static func limit(_ bench: Bench) -> CallLimit? { bench.status.statuses.first?.hubs.first?.limitedBy }

    private static func gauge(_ bench: Bench, _ cause: CallLimit.Cause) -> Double {
        bench.metric("pushfan_limited_by", #"hub="demo""#, #"reason="\#(cause.rawValue)""#)
    }

    private static func order(_ bench: Bench, _ narrow: (inout OrderScope) -> Void) -> OrderRecord {
        var scope = OrderScope()
        narrow(&scope)
        return OrderRecord(
            id: "l-12345678", kind: .limit(callsPerSecond: 1), scope: scope, reason: "flood", author: "ops",
            since: Timestamp(milliseconds: bench.clock.millisecondsSince1970))
    }

    /// All calls that may be are in flight, by the settings or because the hub was not found to bear more.
    @Test(arguments: [(1, CallLimit.Cause.inFlight), (64, .adaptive)])
    func callsInFlightAreALimitWhileOthersWait(most: Int, cause: CallLimit.Cause) throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker { $0.maxInFlight = most }
        try bench.publish(all: Self.requests(40), partition: 0)
        #expect(eventually { Self.limit(bench) == CallLimit(cause) && Self.gauge(bench, cause) == 1 })
        #expect(CallLimit.Cause.allCases.reduce(0) { $0 + Self.gauge(bench, $1) } == 1, "one limit at a time")
        bench.gate.open()
        try bench.results(40)
        #expect(eventually { Self.limit(bench) == nil && Self.gauge(bench, cause) == 0 })
        try worker.stop()
    }

    @Test func theRateOfTheSettingsIsALimitWithItsNumber() throws {
        let bench = try Bench(.quickest, partitions: 1, hasShares: true)
        let worker = try bench.startWorker { $0.rateLimit = 1 }
        try bench.publish(all: Self.requests(30), partition: 0)
        #expect(eventually { Self.limit(bench) == CallLimit(.rateLimit, rate: 1000) && Self.gauge(bench, .rateLimit) == 1 })
        try worker.stop()
    }

    @Test func anOrderForAHubIsALimitWithItsIDAndNumber() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.order(bench) { $0.hub = "demo" }
        try bench.writeControl([(order.key, order.value)])
        let worker = try bench.startWorker()
        try bench.publish(all: Self.requests(30), partition: 0)
        let expected = CallLimit(.order, rate: 1000, order: "l-12345678")
        #expect(eventually { Self.limit(bench) == expected && Self.gauge(bench, .order) == 1 })
        try worker.stop()
    }

    @Test func anOrderForATenantHasItsNumberAndTheCallsThatWaitForIt() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let order = Self.order(bench) { $0.tenant = "acme" }
        try bench.writeControl([(order.key, order.value)])
        let worker = try bench.startWorker()
        try bench.publish(all: Self.requests(30), partition: 0)
        #expect(
            eventually {
                let order = bench.status.statuses.first?.orders.first
                return order?.rate == 1 && order?.calls ?? 0 > 0 && Self.limit(bench) == CallLimit(.order)
            })
        #expect(eventually { Self.gauge(bench, .order) == 1 })
        try worker.stop()
    }

    @Test func theRequestBeforeTheOthersOfItsKeyIsNamed() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker()
        try bench.publish(all: Self.requests(30, #","ordering_key":"k""#), partition: 0)
        let expected = LoopStatus.HeadOfLine(
            topic: bench.topics.requests, partition: 0, key: LongestKey(offset: 0, waiting: 29, of: 29))
        #expect(eventually { bench.status.statuses.first?.headOfLine == expected })
        bench.gate.open()
        try bench.results(30)
        #expect(eventually { bench.status.statuses.first?.headOfLine == nil })
        try worker.stop()
    }

    /// OffsetCommit (key 8) is refused with GROUP_AUTHORIZATION_FAILED (30).
    @Test func kafkaIsNamedWhileItTakesNoResults() throws {
        let bench = try Bench(.embedded, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker { $0.transactionTimeout = .seconds(2) }
        try bench.publish(all: Self.requests(1), partition: 0)
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        bench.cluster?.failNext(apiKey: 8, codes: [Int32](repeating: 30, count: 1000))
        bench.gate.open()
        #expect(eventually { bench.status.statuses.first?.kafkaProblem != nil })
        #expect(throws: WorkerFailure.self) { try worker.stop() }
    }
}
