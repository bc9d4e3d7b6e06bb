import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Requests with ordering keys.
@Suite(.serialized)
struct OrderTests {
    private static func request(_ name: String, key: String? = nil, _ more: String = "") -> String {
        let key = key.map { #""ordering_key":"\#($0)","# } ?? ""
        return #"{"id":"\#(name)",\#(key)"audience":{"categories":["\#(name)"]},"platforms":["apple"],"#
            + #""message":{"title":"T"}\#(more)}"#
    }

    private static func calls(_ bench: Bench) -> [String] { bench.hub.calls().compactMap(\.tags) }

    /// The names with a prefix in the order of their calls, each once for as many calls as follow each other.
    private static func order(_ bench: Bench, _ prefix: String) -> [String] {
        calls(bench).filter { $0.hasPrefix(prefix) }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private static func names(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)-\($0)" } }

    @Test(arguments: brokers) func requestsOfAKeyFollowEachOtherAcrossRetriesAndOthersOvertake(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=503,every=4"), try Fault(parsing: "delay=10ms")])
        let worker = try bench.startWorker {
            $0.retry.base = 200
            $0.retry.maxAttempts = 10
            $0.maxInFlight = 8
        }
        var records: [String] = []
        for number in 0..<12 {
            for key in ["a", "b", "c"] {
                records.append(Self.request("\(key)-\(number)", key: key, #","tenant":"t1""#))
            }
        }
        let others = Self.names("free", 60)
        try bench.publish(all: records + others.map { Self.request($0) })
        try bench.results(36 + 60)
        try worker.stop()
        for key in ["a", "b", "c"] { #expect(Self.order(bench, "\(key)-") == Self.names(key, 12)) }
        let results = try bench.resultsByRequest()
        #expect(results.values.allSatisfy { $0["state"] == "sent" })
        let calls = Self.calls(bench)
        let lastOfKeys = try #require(calls.lastIndex { !$0.hasPrefix("free") })
        let firstOfOthers = try #require(calls.firstIndex { $0.hasPrefix("free") })
        #expect(firstOfOthers < lastOfKeys)
        #expect(try bench.readAll(bench.topics.held).isEmpty, "short waits are no reason to hold anything")
    }

    @Test(arguments: brokers) func aKeyThatWaitsForLongDoesNotHoldItsPartitionUp(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=300,count=1,tags=k-0")])
        let worker = try bench.startWorker { $0.window = 16 }
        #expect(eventually { worker.report(.ready).passes })
        let others = Self.names("free", 100)
        try bench.publish(all: Self.names("k", 40).map { Self.request($0, key: "k") })
        try bench.publish(all: others.map { Self.request($0) })
        // Far more than the window: they are through while the key still waits.
        #expect(eventually { Self.calls(bench).count { $0.hasPrefix("free") } == 100 })
        #expect(Self.calls(bench).filter { $0.hasPrefix("k-") } == ["k-0"])
        try bench.publish(all: [Self.request("k-40", key: "k"), Self.request("other", key: "other")])
        bench.endRest()
        try bench.results(142)
        try worker.stop()
        #expect(Self.order(bench, "k-") == Self.names("k", 41))
        let results = try bench.resultsByRequest()
        #expect(results.count == 142 && results.values.allSatisfy { $0["state"] == "sent" })
        #expect(results["k-0"]?.summary == "sent success - 2")
        #expect(results["k-39"]?["origin.topic"] == bench.topics.requests)
        let held = try bench.readAll(bench.topics.held)
        #expect(held.count > 16 && held.allSatisfy { $0.partition == 1 }, "the lane of ordinary requests has the second of three")
        #expect(held.first?.header("pushfan-attempt") == "1")
        #expect(bench.metric("pushfan_delayed_total", #"lane="held""#) == Double(held.count))
    }

    /// One tenant's request that waits for hours used to hold up whoever used its key.
    @Test func aKeyOfAnotherTenantIsAnotherOneAndOfAnotherSourceTheSame() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(all: [
            Self.request("far", key: "k", #","source":"x""# + Self.far(bench, "a")),
            Self.request("own", key: "k", #","tenant":"a","source":"y""#),
            Self.request("foreign", key: "k", #","tenant":"b","source":"x""#), Self.request("nobody", key: "k"),
        ])
        #expect(eventually { bench.metric("pushfan_requests_finished_total") == 2 })
        #expect(Set(Self.calls(bench)) == ["foreign", "nobody"])
        try bench.cancel(["far"])
        try bench.results(4)
        try worker.stop()
        #expect(Self.calls(bench).last == "own")
    }

    private static func far(_ bench: Bench, _ tenant: String) -> String {
        var moment = ByteWriter()
        moment.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 3_600_000))
        return #","tenant":"\#(tenant)","not_before":"\#(moment.text)""#
    }

    private static let refused = "rejected throttled ordering_key_full 0"

    /// Requests behind one that waits for an hour used to stop their partition for that hour, for all tenants.
    @Test(arguments: brokers) func whatWaitsBehindAFarMomentStopsItsPartitionForNoOther(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        let worker = try bench.startWorker {
            $0.window = 16
            $0.heldWindow = 64
        }
        #expect(eventually { worker.report(.ready).passes })
        let behind = Self.names("k", 100)
        try bench.publish(all: [Self.request("far", key: "k", Self.far(bench, "a"))])
        try bench.publish(all: behind.map { Self.request($0, key: "k", #","tenant":"a""#) })
        let others = Self.names("b", 40)
        try bench.publish(
            all: others.enumerated().map { Self.request($1, key: $0 % 2 == 0 ? "k" : nil, #","tenant":"b""#) })
        #expect(eventually { Self.calls(bench).count { $0.hasPrefix("b-") } == 40 })
        #expect(Self.order(bench, "k-").isEmpty, "they wait for the one before them")
        try bench.cancel(["far"])
        try bench.results(141)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 141 && results["far"]?["state"] == "cancelled")
        let sent = behind.filter { results[$0]?["state"] == "sent" }
        #expect(sent.count >= 11 && sent.starts(with: behind.prefix(8)) && Self.order(bench, "k-") == sent)
        let ended = behind.filter { !sent.contains($0) }
        #expect(!ended.isEmpty && ended.allSatisfy { results[$0]?.summary == Self.refused })
        #expect(ended.allSatisfy { results[$0]?["replay_safety"] == "safe" })
    }

    /// As many keys with far moments each, of one tenant.
    @Test func aTenantWithManyFarMomentsHasItsShareAndLeavesOthersTheirs() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker { $0.heldWindow = 64 }
        #expect(eventually { worker.report(.ready).passes })
        let greedy = Self.names("a", 20)
        try bench.publish(all: greedy.map { Self.request($0, key: $0, Self.far(bench, "a")) })
        try bench.publish(all: [Self.request("b", key: "b", Self.far(bench, "b")), Self.request("free")])
        let results = try bench.results(9)
        #expect(results.filter { $0.summary == Self.refused }.map(\.requestID) == Array(greedy.suffix(8)))
        #expect(Self.calls(bench) == ["free"])
        #expect(bench.metric("pushfan_delayed_total", #"lane="held""#) == 13)
        // It was not sent, so it may come again.
        try bench.publish(all: [Self.request("a-19", key: "a-19", #","tenant":"a""#)])
        try bench.results(10)
        try worker.stop()
        #expect(Self.calls(bench) == ["free", "a-19"])
    }

    @Test(.needsKafka)
    func whatIsHeldOutlivesItsWorkersAndComesFirst() throws {
        let bench = try Bench(.real, partitions: 2)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=300,count=1,tags=k-0")])
        let first = try bench.startWorker("w1") { $0.window = 16 }
        #expect(eventually { first.report(.ready).passes })
        try bench.publish(all: Self.names("k", 30).map { Self.request($0, key: "k") }, partition: 1)
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 2 })
        try first.stop()
        // What was published meanwhile must not come before what is held.
        try bench.publish(all: [Self.request("k-30", key: "k"), Self.request("free")], partition: 1)
        let second = try bench.startWorker("w1") { $0.window = 16 }
        let third = try bench.startWorker("w2") { $0.window = 16 }
        #expect(eventually { Self.calls(bench).contains("free") })
        #expect(Self.order(bench, "k-") == ["k-0"])
        bench.endRest()
        try bench.results(32)
        try second.stop()
        try third.stop()
        #expect(Self.order(bench, "k-") == Self.names("k", 31))
        let results = try bench.resultsByRequest()
        #expect(results["k-0"]?.summary == "sent success - 2")
        #expect(results.values.allSatisfy { $0["state"] == "sent" })
        #expect(Self.calls(bench).count == 33)
    }

    @Test func withoutTheTopicKeysWaitInMemoryAndThatIsSaidOnce() throws {
        let bench = try Bench(.quickest, partitions: 1, hasHeld: false)
        for number in 0..<2 {
            bench.hub.arm([try Fault(parsing: "status=500,retry-after=11,count=1,tags=k-\(number)")])
        }
        let worker = try bench.startWorker { configuration in
            // A name that no broker makes a topic of by itself.
            configuration.topics.held = "not a topic"
        }
        try bench.publish(all: Self.names("k", 3).map { Self.request($0, key: "k") } + [Self.request("free")])
        #expect(bench.passTime(by: .seconds(1)) { bench.metric("pushfan_requests_finished_total") == 4 })
        try bench.results(4)
        try worker.stop()
        #expect(Self.order(bench, "k-") == Self.names("k", 3))
        #expect(bench.logLines.all.count { $0.contains("the topic of held requests lacks a partition") } == 1)
        #expect(bench.metric("pushfan_delayed_total") == 0)
    }

    @Test(arguments: [.all, CancelRecord.Scope(source: "shop", tenant: "b")])
    func aHeldRequestThatIsCancelledLetsTheNextGo(_ scope: CancelRecord.Scope) throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        #expect(eventually { worker.report(.ready).passes })
        var moment = ByteWriter()
        moment.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 3_600_000))
        let members = #","source":"shop","tenant":"b""#
        try bench.publish(
            all: [Self.request("k-0", key: "k", members + #","not_before":"\#(moment.text)""#), Self.request("k-1", key: "k")])
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        #expect(eventually { (try? bench.readAll(bench.topics.held).count) == 1 })
        try bench.cancel(["k-0"], of: .init(source: "shop", tenant: "a"))
        try bench.cancel(["k-0"], of: scope, reason: "no more")
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["k-0"]?["error.message"] == "cancelled: no more")
        #expect(results["k-0"]?["state"] == "cancelled" && results["k-1"]?["state"] == "sent")
        #expect(Self.calls(bench) == ["k-1"])
    }

    @Test func whatIsRefusedEndsAtOnceAndWhatExpiresEndsInItsTurn() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker()
        let records = [
            Self.request("k-0", key: "k"), Self.request("k-0", key: "k"), Self.request("k-1", key: "k", #","ttl_seconds":60"#),
            Self.request("k-2", key: "k"), #"{"id":"bad","ordering_key":"k","audience":{}}"#,
        ]
        try bench.publish(all: records)
        #expect(eventually { bench.metric("pushfan_requests_finished_total") == 2 })
        // k-1 expires while it waits for the call before it.
        bench.clock.advance(by: .seconds(60))
        bench.gate.open()
        try bench.results(5)
        try worker.stop()
        #expect(Self.calls(bench) == ["k-0", "k-2"])
        let all = try bench.readAll(bench.topics.results).map { try FinalResult($0) }
        #expect(all.count == 5 && all.filter { $0.requestID == "k-1" }.map { $0["state"] } == ["expired"])
        #expect(Set(all.prefix(2).map(\.requestID)) == ["k-0", "bad"], "neither waits for the call")
    }
}
