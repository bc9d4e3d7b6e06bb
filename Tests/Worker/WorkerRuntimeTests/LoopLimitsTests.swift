import Basics
import CurlHTTP
import Delivery
import EventLoop
import HubAuth
import HubREST
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The orders that limit, as one loop has them.
struct LoopLimitsTests {
    /// A hub that nothing is sent to.
    private struct Stage {
        private let poller: Poller
        let port: HubPort

        init(rate: Int = 0) throws {
            let poller = try Poller()
            let metrics = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
            let workerMetrics = WorkerMetrics(metrics, gauges: LoopGauges(metrics, topics: Topics(), loops: 1), loop: 0)
            let health = WorkerHealth(Health(), log: .silent, now: 0)
            var generator = QuickRandom()
            let connection = try ConnectionString(
                parsing: "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=CANARYkey")
            let hub = HubConfiguration(
                endpoint: connection.endpoint, hub: try HubName("north"), credential: connection.credential)
            let connections = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: 1)
            let configuration = WorkerConfiguration(
                workerID: "w", version: "test", kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), hub: hub,
                connections: connections)
            var settings = WorkerConfiguration.Hub(hub, connections: connections)
            settings.rateLimit = rate
            port = try HubPort(
                0, settings: settings, of: configuration, poller: poller, now: 0,
                metrics: workerMetrics.ofHub("north", isRateLimited: rate > 0), health: health.newHub(), generator: &generator)
            self.poller = poller
        }
    }

    private static func limit(_ id: String, _ rate: Int, _ narrow: (inout OrderScope) -> Void = { _ in }) -> OrderRecord {
        var scope = OrderScope()
        narrow(&scope)
        return OrderRecord(
            id: id, kind: .limit(callsPerSecond: rate), scope: scope, reason: "flood", author: "ops",
            since: Timestamp(milliseconds: 0))
    }

    /// The settings' rate, the orders', and the rate of all workers that counts.
    @Test(
        arguments: [
            (0, nil, nil), (0, 10, 10), (100, nil, 100), (100, 10, 10), (100, 400, 100), (100, 100, 100),
        ] as [(Int, Int?, Int?)])
    func theLowestRateCounts(configured: Int, ordered: Int?, expected: Int?) throws {
        let port = try Stage(rate: configured).port
        port.setRate(ordered: ordered.map { .init(order: "l-north", callsPerSecond: $0) }, part: .init(owned: 3, all: 12), now: 0)
        #expect(port.limits.rate?.limit == expected.map { Int64($0) * 1000 })
        #expect((port.limits.rate?.order == "l-north") == (ordered == expected && ordered != configured && ordered != nil))
        port.setRate(ordered: nil, part: .init(owned: 3, all: 12), now: 1)
        #expect(port.limits.rate?.limit == (configured > 0 ? Int64(configured) * 1000 : nil), "as it was before")
    }

    @Test func withoutARateInTheSettingsAWorkerHasItsPartOfAnOrderedOneAtOnce() throws {
        let port = try Stage().port
        func rate(_ ordered: Int?, owned: Int, of all: Int) -> Int64? {
            port.setRate(
                ordered: ordered.map { .init(order: "l-north", callsPerSecond: $0) }, part: .init(owned: owned, all: all), now: 0)
            return port.limits.rate?.rate
        }
        #expect(rate(10, owned: 3, of: 12) == 2500)
        #expect(rate(40, owned: 3, of: 12) == 10_000, "another order")
        #expect(rate(40, owned: 6, of: 12) == 20_000, "another assignment")
        #expect(rate(40, owned: 6, of: 24) == 10_000, "more partitions")
        #expect(rate(nil, owned: 6, of: 24) == nil)
    }

    @Test func aConfiguredRateStaysSharedWithTheFleetWhileAnOrderLowersIt() throws {
        let port = try Stage(rate: 100).port
        port.limits.rate?.owns(12, now: 0)
        port.setRate(ordered: .init(order: "l-north", callsPerSecond: 10), part: .init(owned: 12, all: 12), now: 0)
        #expect(port.limits.rate?.rate == 0, "nothing is its part before the fleet has agreed")
        port.limits.rate?.sharesByPartitions(12, now: 0)
        #expect(port.limits.rate?.rate == 10_000)
    }

    @Test func aLimitOfAHubIsItsRateAndAnyOtherIsWaitedFor() {
        let limited = LoopLimits(partitionCount: 12)
        let orders = [
            Self.limit("l-hub-north", 30) { $0.hub = "north" }, Self.limit("l-hub-again", 20) { $0.hub = "north" },
            Self.limit("l-everything", 25), Self.limit("l-acme", 5) { $0.tenant = "acme" },
            Self.limit("l-both", 7) {
                $0.hub = "north"
                $0.tenant = "acme"
            },
            OrderRecord(
                id: "h-held", kind: .hold, scope: .everything, reason: "quiet", author: "ops", since: Timestamp(milliseconds: 0)),
        ]
        func rate(_ hub: String) -> [String: Int]? { limited.rate(ofHub: hub).map { [$0.order: $0.callsPerSecond] } }
        limited.take(orders, areHubsSeveral: false, now: 0)
        #expect(rate("north") == ["l-hub-again": 20] && rate("south") == ["l-everything": 25])
        func waitedFor() -> [String] { orders.map(\.id).filter(limited.waiting.contains) }
        #expect(limited.isUsed && waitedFor() == ["l-acme", "l-both"])
        limited.take(orders, areHubsSeveral: true, now: 0)
        #expect(waitedFor() == ["l-everything", "l-acme", "l-both"], "together, hubs keep to the limit of everything")
        #expect(rate("south") == ["l-everything": 25])
        limited.take([orders[0]], areHubsSeveral: true, now: 0)
        #expect(!limited.isUsed && rate("north") == ["l-hub-north": 30] && limited.rate(ofHub: "south") == nil)
        limited.take([], areHubsSeveral: true, now: 0)
        #expect(!limited.isUsed && limited.rate(ofHub: "north") == nil)
    }

    @Test func partitionsThatAreNotKnownAnewAreAsManyAsBefore() {
        let limited = LoopLimits(partitionCount: 48)
        #expect(limited.part == .init(owned: 0, all: 48))
        limited.owns(12, of: nil)
        #expect(limited.part == .init(owned: 12, all: 48))
        limited.owns(12, of: 1200)
        limited.owns(14, of: nil)
        #expect(limited.part == .init(owned: 14, all: 1200))
        limited.owns(14, of: 0)
        #expect(limited.part == .init(owned: 14, all: 14), "there are those that it has")
    }

    @Test func aLineNamesEachLimitOnceAndNoOtherOrder() throws {
        let limited = LoopLimits(partitionCount: 12)
        let orders = [Self.limit("l-two", 5) { $0.tenant = "acme" }, Self.limit("l-one", 7) { $0.source = "shop" }]
        limited.take(orders, areHubsSeveral: false, now: 0)
        let flight = Flight(index: 0)
        flight.begin(
            epoch: 0, slot: 0, lane: .bulk, origin: RecordOrigin(topic: "t", partition: 0, offset: 7, timestamp: .past),
            now: Timestamp(milliseconds: 0), monotonic: 0)
        let ofHub = Self.limit("l-hub", 3) { $0.hub = "north" }
        #expect(
            limited.line(of: flight, at: 0, among: orders + [ofHub] + orders)
                == LimitedLine(hub: 0, lane: Lane.bulk.rawValue, orders: ["l-one", "l-two"]))
        #expect(limited.line(of: flight, at: 0, among: [ofHub]) == nil)
    }
}
