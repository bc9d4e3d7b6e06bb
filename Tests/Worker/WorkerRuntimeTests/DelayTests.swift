import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Requests that wait in delay lanes, and what becomes of them when workers come and go meanwhile.
@Suite(.serialized, .tags(.waits, .threads))
struct DelayTests {
    private static func request(_ name: String, _ fields: String = "", platforms: String = #""apple""#) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":[\#(platforms)],"message":{"title":"T"}\#(fields)}"#
    }

    /// Milliseconds since 1970.
    private static func now(_ bench: Bench) -> Int64 { bench.clock.millisecondsSince1970 }

    private static func notBefore(_ moment: Int64) -> String {
        var text = ByteWriter()
        text.append(Timestamp(milliseconds: moment))
        return #","not_before":"\#(text.text)""#
    }

    private static func quick(_ configuration: inout WorkerConfiguration) { configuration.retry.base = 30 }

    /// How many requests there are for each moment, 300 ms apart.
    private static let copies = 5

    private static func calls(_ bench: Bench, _ name: String) -> [RecordedCall] { bench.hub.calls().filter { $0.tags == name } }

    /// One bench for many waits, because they take their time.
    @Test(arguments: brokers) func waitsEndInTimeAndNeverEarlyWhateverTheyAreFor(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 2)
        try bench.hub.register(
            EmulatedDevice(id: "d", platform: "apns", handle: String(repeating: "AB", count: 32), tags: ["both"]))
        bench.hub.arm([
            try Fault(parsing: "status=500,retry-after=11,count=1,tags=retried"),
            try Fault(parsing: "status=500,retry-after=11,count=1,format=fcmv1,tags=both"),
        ])
        let worker = try bench.startWorker(change: Self.quick)
        #expect(eventually { worker.report(.ready).passes })
        // What is slow at first is not what this is about.
        for lane in Lane.allCases { try bench.publish(all: [Self.request("first-\(lane.name)")], to: lane) }
        #expect(eventually { Lane.allCases.allSatisfy { Self.calls(bench, "first-\($0.name)").count == 1 } })
        let start = Self.now(bench)
        var delays: [String: Int64] = [:]
        for (name, delay) in [("at45", 45_000), ("at55", 55_000), ("soon", 3_000)] as [(String, Int64)] {
            for number in 0..<Self.copies { delays["\(name)-\(number)"] = delay + Int64(number) * 300 }
        }
        for (name, delay) in delays { try bench.publish(Self.request(name, Self.notBefore(start + delay))) }
        try bench.publish(
            Array(Self.request("retried").utf8), key: Array("order-1".utf8),
            headers: [("x-own", [0xFE, 0]), ("x-null", nil), ("pushfan-group", Array("mine".utf8))])
        try bench.publish(Self.request("both", platforms: #""apple","fcmv1""#))
        try bench.publish(Self.request("expires", Self.notBefore(start + 60_000) + #","ttl_seconds":40"#))
        try bench.publish(all: [Self.request("bulk", Self.notBefore(start + 40_000))], to: .bulk)
        // All that waits for 10 s or more lies in its lane.
        #expect(eventually { bench.metric("pushfan_delayed_total") >= Double(2 * Self.copies + 4) })
        #expect(
            bench.passTime(by: .milliseconds(100)) {
                bench.metric("pushfan_requests_finished_total") == Double(delays.count + 8)
            })
        try bench.results(delays.count + 8)
        try worker.stop()

        let results = try bench.resultsByRequest()
        for (name, delay) in delays {
            #expect(results[name]?.summary == "sent success - 1")
            let late = try #require(Self.calls(bench, name).first).at - start - delay
            #expect(late >= 0, "\(name) was \(-late) ms early")
        }
        let retried = try #require(results["retried"])
        #expect(retried.summary == "sent success - 2")
        #expect(retried["origin.topic"] == bench.topics.requests)
        let attempts: [[String: Any]]? = retried["attempts"]
        #expect(attempts?.map { $0["http_status"] as? Int } == [500, 201])
        let wait = Self.calls(bench, "retried").map(\.at)
        #expect(wait.count == 2 && wait[1] - wait[0] >= 11_000, "\(wait)")
        let total: Int? = retried["timings.total_ms"]
        #expect(total ?? 0 >= 11_000)

        #expect(results["both"]?.summary == "sent success - 2")
        #expect(Self.calls(bench, "both").count { $0.format == "apple" } == 1)
        #expect(bench.hub.devices().first?.rungCount == 1)
        #expect(results["bulk"]?["origin.topic"] == bench.topics.requestsBulk)
        #expect(results["expires"]?.summary == "expired expired expired_in_queue 0")
        let lived: Int? = results["expires"]?["timings.total_ms"]
        #expect(lived ?? 0 >= 39_900, "it lived \(lived ?? 0) ms")
        #expect(Self.calls(bench, "expires").isEmpty)
        #expect(bench.metric("pushfan_retry_queue_records") == 0)

        let lane = try bench.readAll(bench.topics.delays[0])
        let record = try #require(lane.first { $0.header("pushfan-origin-offset") != nil && $0.key == Array("order-1".utf8) })
        #expect(record.value == Array(Self.request("retried").utf8))
        #expect(record.header("x-own") == String(decoding: [0xFE, 0], as: UTF8.self))
        #expect(record.headers.contains { $0.name == "x-null" && $0.value == nil })
        #expect(record.headers.filter { $0.name == "pushfan-group" }.count == 1)
        #expect(record.header("pushfan-group") == bench.name && record.header("pushfan-attempt") == "1")
        // Several hops of 10 s for the longest; none for those that were soon.
        #expect(lane.count { String(decoding: $0.value ?? [], as: UTF8.self).contains("at55") } >= 2 * Self.copies)
        #expect(!lane.contains { String(decoding: $0.value ?? [], as: UTF8.self).contains("soon") })
    }

    @Test(.needsKafka, arguments: [1, 2])
    func whatWaitsOutlivesItsWorkersAndARebalance(_ loops: Int) throws {
        let change = { (configuration: inout WorkerConfiguration) in
            Self.quick(&configuration)
            configuration.loops = loops
        }
        let bench = try Bench(.real, partitions: 4)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=14,count=1,tags=retried")])
        let first = try bench.startWorker("w1", change: change)
        #expect(eventually { first.report(.ready).passes })
        let start = Self.now(bench)
        let scheduled = (0..<40).map { "n\($0)" }
        try bench.publish(all: scheduled.map { Self.request($0, Self.notBefore(start + 50_000)) } + [Self.request("retried")])
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 41 })
        // All of it is committed, so the worker has nothing left to do.
        try first.stop()
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
        let second = try bench.startWorker("w1", change: change)
        #expect(eventually { second.report(.ready).passes })
        let third = try bench.startWorker("w2", change: change)
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 41 })
        try bench.results(41)
        try second.stop()
        try third.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 41)
        #expect(results["retried"]?.summary == "sent success - 2")
        for name in scheduled {
            #expect(results[name]?.summary == "sent success - 1")
            let calls = Self.calls(bench, name)
            #expect(calls.count == 1 && calls.allSatisfy { $0.at >= start + 50_000 }, "\(name)")
        }
    }

    /// Writes a record to the lane of 10 s that was due long ago.
    private static func write(_ name: String, _ headers: [(String, String)], to bench: Bench) throws {
        let producer = try Producer(bench.kafka, transactionalID: nil)
        let topic = try #require(try producer.warmUp(topics: [bench.topics.delays[0]], timeout: farDeadline).first)
        var list = HeaderList()
        for (name, value) in headers { list.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        try producer.produce(to: topic, key: nil, value: Array(request(name).utf8).span, headers: list, timestamp: 1)
        try producer.flush(timeout: farDeadline)
        producer.close(timeout: .zero)
    }

    /// The headers of a request whose calls are these.
    private static func headers(_ bench: Bench, calls: String, attempts: String = "") -> [(String, String)] {
        [
            ("pushfan-group", bench.name), ("pushfan-origin-topic", "t"), ("pushfan-origin-partition", "0"),
            ("pushfan-origin-offset", "0"), ("pushfan-origin-timestamp-ms", "1"), ("pushfan-not-before-ms", "1"),
            ("pushfan-lane", "normal"),
            (
                "pushfan-history",
                #"{"v":1,"plan":"0","consumed":1,"throttled":0,"hub":0,"calls":[\#(calls)],"attempts":[\#(attempts)]}"#
            ),
        ]
    }

    @Test func recordsOfAnotherGroupAreLeftToItAndOddOnesAreDeadLetters() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let good = Self.headers(bench, calls: #"{"attempts":0,"due":1}"#)
        try Self.write("odd", [("pushfan-group", "somebody-else")], to: bench)
        try Self.write("odd", [], to: bench)
        try Self.write("odd", good.dropLast() + [("pushfan-history", "{}")], to: bench)
        try Self.write("odd", good.filter { $0.0 != "pushfan-lane" }, to: bench)
        for name in ["pushfan-origin-timestamp-ms", "pushfan-not-before-ms"] {
            try Self.write("odd", good.filter { $0.0 != name } + [(name, "\(Int64.min)")], to: bench)
        }
        try Self.write("odd", good, to: bench)
        let worker = try bench.startWorker()
        try bench.results(1)
        let dead = try bench.read(bench.topics.deadLetters, count: 5)
        try worker.stop()
        #expect(dead.map { $0.header("pushfan-dlq-reason") } == Array(repeating: "not_delayed", count: 5))
        #expect(dead.map { $0.header("pushfan-dlq-offset") } == ["1", "2", "3", "4", "5"])
        #expect(dead.allSatisfy { $0.header("pushfan-dlq-topic") == bench.topics.delays[0] })
        #expect(try bench.resultsByRequest()["odd"]?.summary == "sent success - 1")
        #expect(bench.hub.calls().count == 1)
    }

    /// As after a change of the settings: the history is of other calls than the request has now.
    @Test func aPlanThatHasChangedEndsARequestThatWasTriedAndNoOther() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try Self.write("scheduled", Self.headers(bench, calls: #"{"attempts":0,"due":1},{"attempts":0,"due":1}"#), to: bench)
        let calls =
            #"{"attempts":1,"platform":"fcmv1","outcome":"success","status":201},"#
            + #"{"attempts":1,"platform":"apple","due":1,"code":"hub_unavailable","status":503}"#
        let attempts =
            #"{"n":1,"call":0,"at":5,"took":7,"result":"ok","status":201},"#
            + #"{"n":1,"call":1,"at":5,"took":9,"result":"error","status":503,"backoff":20000}"#
        try Self.write("tried", Self.headers(bench, calls: calls, attempts: attempts), to: bench)
        let worker = try bench.startWorker()
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["scheduled"]?.summary == "sent success - 1")
        #expect(results["tried"]?.summary == "partial transient internal 1")
        #expect(results["tried"]?["sends.0.platform"] == "fcmv1" && results["tried"]?["sends.1.platform"] == "apple")
        #expect(results["tried"]?["replay_safety"] == "safe")
        #expect(Self.calls(bench, "tried").isEmpty)
    }

    @Test func withoutLanesWaitsAreInMemoryAsLongAsTheyTake() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=11,count=1,tags=retried")])
        let worker = try bench.startWorker { configuration in
            Self.quick(&configuration)
            configuration.topics.delays = []
        }
        try bench.publish(Self.request("retried"))
        #expect(eventually { bench.metric("pushfan_retry_queue_records") == 1 })
        bench.clock.advance(by: .seconds(11))
        try bench.results(1)
        try worker.stop()
        #expect(try bench.resultsByRequest()["retried"]?.summary == "sent success - 2")
        #expect(try bench.readAll(bench.topics.delays[0]).isEmpty)
        #expect(bench.metric("pushfan_delayed_total") == 0)
    }
}
