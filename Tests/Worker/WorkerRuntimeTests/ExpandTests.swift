import Delivery
import FanOut
import Foundation
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Requests that need more calls than one may make: their parts, and the one result of the whole.
@Suite(.serialized, .tags(.waits))
struct ExpandTests {
    private static func request(_ id: String, users: Int, _ members: String = "") -> String {
        let names = (0..<users).map { "\"\(id)-u\($0)\"" }.joined(separator: ",")
        return
            #"{"id":"\#(id)","source":"/test","audience":{"users":[\#(names)]},"message":{"title":"T"},"labels":{"campaign":"c"}\#(members)}"#
    }

    /// How often each user of a request was called on each platform.
    private static func reached(_ bench: Bench, _ id: String) -> [String: Int] {
        var reached: [String: Int] = [:]
        for call in bench.hub.calls() {
            for tag in (call.tags ?? "").split(whereSeparator: { "() |".contains($0) }) where tag.hasPrefix("username:\(id)-") {
                reached["\(tag) \(call.format ?? "-")", default: 0] += 1
            }
        }
        return reached
    }

    @Test(arguments: brokers) func aLargeRequestReachesEveryUserOnceAndHasOneResult(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 3)
        let worker = try bench.startWorker()
        try bench.publish(Self.request("news", users: 1234))
        try bench.publish(Self.request("small", users: 100))
        // 62 pieces for three platforms: 13 parts, the whole, and the one that is not large.
        try bench.results(15)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 15)
        let whole = try #require(results["news"])
        #expect(whole.summary == "sent success - 1")
        #expect(whole["parts.count"] == 13 && whole["parts.sent"] == 13)
        #expect(whole["targets.planned"] == 186 && whole["targets.accepted"] == 186)
        #expect(whole["origin.topic"] == bench.topics.requests && whole["labels.campaign"] == "c" && whole["source"] == "/test")
        #expect(whole.record.header("ce_type") == "push.result.v1" && whole.record.header("traceparent") != nil)
        for chunk in 0..<13 {
            let part = try #require(results["news.\(chunk)"])
            #expect(part["state"] == "sent" && part["parent.id"] == "news" && part["parent.chunk"] == chunk)
            #expect(part["origin.topic"] == bench.topics.requestsOwn && part["source"] == "/test")
        }
        let reached = Self.reached(bench, "news")
        #expect(reached.count == 1234 * 3 && reached.values.allSatisfy { $0 == 1 })
        #expect(results["small"]?["parent.id"] as String? == nil && results["small"]?.summary == "sent success - 1")
        #expect(bench.metric("pushfan_requests_expanded_total") == 1)
        #expect(bench.metric("pushfan_requests_finished_total", "success") == 15)
    }

    @Test(arguments: brokers) func theWholeIsPartlySentWhenAPartFails(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 2)
        bench.hub.arm([try Fault(parsing: "status=400,count=2,tags=username:news-u100")])
        let worker = try bench.startWorker { $0.maxInFlight = 4 }
        try bench.publish(Self.request("news", users: 400))
        try bench.results(5)
        try worker.stop()
        let results = try bench.resultsByRequest()
        let whole = try #require(results["news"])
        #expect(whole["state"] == "partial" && whole["outcome"] == "payload" && whole["replay_safety"] == "pointless")
        #expect(whole["parts.partial"] == 1 && whole["parts.sent"] == 3 && whole["parts.not_sent.0"] == 1)
        #expect(whole["targets.failed"] == 2 && whole["targets.accepted"] == 58)
        #expect(results["news.1"]?["state"] == "partial")
    }

    /// The whole may be replayed as its parts may.
    @Test(arguments: [("status=400", "pointless"), ("status=403", "safe"), ("reset=after", "ambiguous")])
    func theWholeSaysWhatItsPartsSay(_ fault: String, _ safety: String) throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "\(fault),count=1,tags=username:news-u100")])
        let worker = try bench.startWorker { $0.maxInFlight = 4 }
        try bench.publish(Self.request("news", users: 400))
        try bench.results(5)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["news"]?["state"] == "partial")
        #expect(results["news.1"]?["replay_safety"] == safety && results["news"]?["replay_safety"] == safety)
    }

    /// With so little memory some 350 of these may be open, and those that are begun before it is read that others are. Without a bound nearly
    /// all are at once: each is read long before its parts. How many are begun before goes by the machine: 4,403 were seen beside other work.
    @Test func noMoreLargeRequestsAreOpenThanHaveRoomAndEachHasItsResult() throws {
        let bench = try Bench(.quickest, partitions: 8)
        let worker = try bench.startWorker {
            $0.memoryBudget = 16 << 20
            $0.maxInFlight = 4
            $0.planning.maximumCalls = 1
        }
        let value = String(repeating: "x", count: 64)
        let labels = (0..<16).map { #""label_\#($0)_\#(value.prefix(20))":"\#(value)""# }.joined(separator: ",")
        try bench.publish(
            all: (0..<5000).map { number in
                Self.request("r\(number)", users: 21, #","platforms":["apple"]"#)
                    .replacingOccurrences(of: #"{"campaign":"c"}"#, with: "{\(labels)}")
            })
        var most = 0.0
        #expect(
            eventually {
                most = max(most, bench.metric("pushfan_parents_open"))
                return bench.metric("pushfan_requests_finished_total") >= 15_000
            })
        #expect(most >= 100 && most <= 4900, "\(most) were open at once")
        try bench.results(15_000)
        try worker.stop()
        #expect(try bench.resultsByRequest().count == 15_000)
    }

    @Test func aRefusedContentIsRefusedAsAWhole() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        let long = String(repeating: "x", count: 2000)
        try bench.publish(
            Self.request("news", users: 400).replacingOccurrences(
                of: #""title":"T""#, with: #""title":"T","data":{"a":"\#(long)","b":"\#(long)","c":"\#(long)"}"#))
        try bench.publish(Self.request("dry", users: 400, #","options":{"dry_run":true}"#))
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 2)
        #expect(results["news"]?.summary == "rejected payload payload_too_large 0")
        #expect(results["dry"]?.summary == "cancelled cancelled cancelled 0")
        #expect(bench.hub.calls().isEmpty)
    }

    /// What stands in every part is written once for each of them, in one transaction: 250 times 390 KB were 98 MB.
    @Test func aRequestWhosePartsWouldRepeatTooMuchIsRefusedAsAWhole() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        func ballast(_ byteCount: Int) -> String {
            let body = String(repeating: "x", count: byteCount)
            return #","platforms":["apple"],"payloads":{"baidu":{"body":"\#(body)"}}"#
        }
        try bench.publish(Self.request("much", users: 1000, ballast(400_000)))
        try bench.publish(Self.request("less", users: 700, ballast(20_000)))
        try bench.results(5)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["much"]?.summary == "rejected payload record_too_large 0")
        #expect(results["less"]?["state"] == "sent" && results["less"]?["parts.sent"] == 3)
        #expect(results.count == 5)
    }

    @Test(arguments: brokers) func aLargeRequestWaitsAsOneAndIsThenDivided(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 2)
        let worker = try bench.startWorker()
        #expect(eventually { worker.report(.ready).passes })
        let due = Date(timeIntervalSince1970: Double(bench.clock.millisecondsSince1970) / 1000 + 900)
        let moment = due.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        try bench.publish(Self.request("later", users: 300, #","not_before":"\#(moment)""#))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        #expect(bench.metric("pushfan_requests_expanded_total") == 0)
        #expect(bench.passTime(by: .seconds(5)) { bench.metric("pushfan_requests_finished_total") == 4 })
        try bench.results(4)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["later"]?["parts.sent"] == 3 && results["later"]?["state"] == "sent")
        #expect(bench.hub.calls().allSatisfy { Double($0.at) / 1000 >= due.timeIntervalSince1970 - 0.001 })
    }

    @Test(arguments: brokers) func cancellingTheWholeCancelsItsParts(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 2)
        bench.gate.close()
        let worker = try bench.startWorker { $0.maxInFlight = 2 }
        try bench.publish(Self.request("news", users: 2000))
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 2 })
        // One call after the other, until the first part has its end.
        #expect(
            eventually {
                bench.gate.admit(1)
                return bench.metric("pushfan_requests_finished_total") >= 1
            })
        try bench.cancel(["news"], reason: "wrong text")
        #expect(eventually { bench.metric("pushfan_cancellations") == 1 })
        bench.gate.open()
        try bench.results(21)
        try worker.stop()
        let results = try bench.resultsByRequest()
        let whole = try #require(results["news"])
        let (sent, cancelled): (Int?, Int?) = (whole["parts.sent"], whole["parts.cancelled"])
        #expect(whole["state"] == "partial" && whole["outcome"] == "cancelled")
        #expect((sent ?? 0) > 0 && (cancelled ?? 0) > 0)
        #expect(bench.hub.calls().count < 300)
        // One that was cancelled before it was divided has no parts.
        try bench.publish(Self.request("never", users: 400))
        try bench.cancel(["never"])
        let second = try bench.startWorker()
        try bench.results(22)
        try second.stop()
        #expect(try bench.resultsByRequest()["never"]?.summary == "cancelled cancelled cancelled 0")
    }

    /// Needs transactions: without them a part may be sent again, and count again.
    @Test(.needsKafka)
    func itsResultIsWrittenOnceWhoeverCountsItsParts() throws {
        let bench = try Bench(.real, partitions: 2)
        bench.gate.close()
        // The first worker divides it and is gone before all parts are sent.
        let first = try bench.startWorker { $0.maxInFlight = 8 }
        for number in 0..<3 { try bench.publish(Self.request("r\(number)", users: 700)) }
        #expect(
            eventually {
                bench.gate.admit(1)
                return bench.metric("pushfan_requests_finished_total") >= 6
            })
        first.askToStop()
        #expect(eventually { !first.report(.ready).passes })
        bench.gate.open()
        try first.wait()
        #expect(try bench.readAll(bench.topics.results).count < 24)
        let second = try bench.startWorker()
        try bench.results(24)
        try second.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 24)
        for number in 0..<3 {
            #expect(results["r\(number)"]?["parts.sent"] == 7 && results["r\(number)"]?["state"] == "sent")
        }
        // Nothing is counted again by the next one.
        let third = try bench.startWorker()
        try bench.publish(Self.request("last", users: 10))
        try bench.results(25)
        try third.stop()
        #expect(try bench.resultsByRequest().count == 25)
    }

    @Test func theTopicOfParentsHoldsNothingOfWhatIsFinished() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(Self.request("news", users: 300))
        try bench.results(4)
        try worker.stop()
        var latest: [[UInt8]: [UInt8]?] = [:]
        for record in try bench.readAll(bench.topics.parents) { latest[record.key ?? []] = .some(record.value) }
        #expect(latest.count == 4 && latest.values.allSatisfy { $0 == nil })
    }

    /// Anybody who may write to the topic of parents can write any number there.
    @Test func absurdNumbersInTheTopicOfParentsEndNoWorker() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let moments: [Int64] = [.min, -Timestamp.limit, -1, 0, 253_402_300_800_000, .max - 1, .max]
        let producer = try Producer(bench.kafka, transactionalID: nil)
        let topic = try #require(try producer.warmUp(topics: [bench.topics.parents], timeout: farDeadline).first)
        func write(_ key: String, _ value: String) throws {
            try producer.produce(
                to: topic, partition: 0, key: Array(key.utf8).span, value: Array(value.utf8).span, timestamp: 1)
        }
        let most = Int64.max
        for (index, moment) in moments.enumerated() {
            let origin = #"{"topic":"t","partition":0,"offset":"\#(index)","timestamp_ms":\#(moment)}"#
            let head = #""schema_version":1,"id":"p\#(index)","chunks":2,"calls":\#(most)"#
            try write("t:0:\(index)", #"{\#(head),"origin":\#(origin),"consumed_ms":\#(moment)}"#)
            let counts = #""accepted":\#(most),"ambiguous":\#(most),"attempts":\#(most)"#
            let times = #""first":\#(moment),"hub_ms":\#(most),"throttle_ms":\#(most)"#
            for chunk in 0..<2 {
                try write("t:0:\(index)/\(chunk)", #"{"v":1,"state":"sent","outcome":"success",\#(counts),\#(times)}"#)
            }
        }
        // It stands for itself, and its record's time is the beginning of 1970.
        try write(":file:old", #"{"schema_version":1,"id":"file","chunks":1,"calls":1}"#)
        try write(":file:old/0", #"{"v":1,"state":"sent","outcome":"success"}"#)
        try producer.flush(timeout: farDeadline)
        producer.close(timeout: .zero)
        let worker = try bench.startWorker()
        try bench.publish(Array(Self.request("old", users: 300).utf8), at: 1)
        try bench.results(moments.count + 5)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for id in moments.indices.map({ "p\($0)" }) + ["file", "old", "old.2"] {
            #expect(results[id]?["state"] == "sent", "\(id)")
            let total: Int? = results[id]?["timings.total_ms"]
            #expect(try #require(total) >= 0, "\(id)")
        }
    }

    /// The topic of requests was made again: of an open request that stood at the same place two parts have ended, written by this version or
    /// by one whose keys have no more than the place.
    @Test(arguments: [true, false]) func aRequestIsNotCountedWithAnotherThatStoodAtItsPlace(isOld: Bool) throws {
        let bench = try Bench(.quickest, partitions: 1)
        let place = RecordOrigin(topic: bench.topics.requests, partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 1))
        let id = Array("news".utf8)
        let key = isOld ? ParentKey(at: place) : ParentKey(of: place, id: id.span)
        let producer = try Producer(bench.kafka, transactionalID: nil)
        let topic = try #require(try producer.warmUp(topics: [bench.topics.parents], timeout: farDeadline).first)
        func write(_ role: ParentKey.Role, _ value: String) throws {
            var text = ByteWriter()
            key.append(role, to: &text)
            try producer.produce(to: topic, partition: 0, key: text.span, value: Array(value.utf8).span, timestamp: 1)
        }
        let origin = #"{"topic":"\#(place.topic)","partition":0,"offset":"0","timestamp_ms":1}"#
        try write(.parent, #"{"schema_version":1,"id":"news","chunks":4,"calls":4,"origin":\#(origin),"consumed_ms":1}"#)
        for chunk in 0..<2 { try write(.part(chunk), #"{"v":1,"state":"failed","outcome":"permanent"}"#) }
        try producer.flush(timeout: farDeadline)
        producer.close(timeout: .zero)
        let worker = try bench.startWorker()
        #expect(eventually { bench.metric("pushfan_parents_open") == 1 })
        try bench.publish(Self.request("news", users: 400))
        try bench.results(5)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 5 && bench.metric("pushfan_parents_open") == 1)
        #expect(results["news"]?.summary == "sent success - 1" && results["news"]?["parts.sent"] == 4)
    }

    private static func block(_ key: String, _ partition: Int, _ chunk: Int, of chunks: Int = 2) -> String {
        #","parent":{"id":"x","key":"\#(key)","partition":\#(partition),"chunk":\#(chunk),"chunks":\#(chunks),"published_at":"2026-01-01T00:00:00Z"}"#
    }

    /// Ten requests with a victim's key used to end it as `expired`, although all its calls were accepted.
    @Test func whoeverPublishesCanNotCallARequestAPartOfAnother() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker()
        try bench.publish(Self.request("victim", users: 1000))
        #expect(eventually { bench.metric("pushfan_requests_expanded_total") == 1 && bench.metric("pushfan_inflight_sends") > 0 })
        let past = #","expires_at":"2020-01-01T00:00:00Z""#
        for lane in [Lane.high, .normal, .bulk] {
            try bench.publish(
                all: (0..<10).map { chunk in
                    let key = "\(bench.topics.requests):0:0"
                    return Self.request("\(lane.name)\(chunk)", users: 1, Self.block(key, 0, chunk, of: 10) + past)
                }, to: lane)
        }
        #expect(eventually { bench.metric("pushfan_records_rejected_total") == 30 })
        bench.gate.open()
        try bench.results(41)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["victim"]?.summary == "sent success - 1")
        #expect(results["victim"]?["parts.sent"] == 10)
        let forged = results.filter { $0.key.hasPrefix("high") || $0.key.hasPrefix("normal") || $0.key.hasPrefix("bulk") }
        #expect(forged.count == 30)
        for (id, result) in forged {
            #expect(result.summary == "rejected payload schema_invalid 0", "\(id)")
            #expect(result["error.faults.0.pointer"] == "/parent" && result["parent.id"] as String? == nil)
        }
    }

    @Test func whatBecameOfAPartOfNothingIsDeleted() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(
            all: (0..<3).map { Self.request("stray\($0)", users: 1, Self.block("t:0:1", 0, $0, of: 3)) }, to: .own)
        try bench.results(3)
        func rest() throws -> [[UInt8]] {
            var latest: [[UInt8]: [UInt8]?] = [:]
            for record in try bench.readAll(bench.topics.parents) { latest[record.key ?? []] = .some(record.value) }
            return latest.count == 3 ? latest.values.compactMap(\.self) : [[]]
        }
        #expect(try eventually { try rest().isEmpty })
        try worker.stop()
    }

    @Test func aPartOfNothingHoldsNobodyUp() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(
            all: [
                Self.request("foreign", users: 1, Self.block("t:0:1", 0, 0)),
                Self.request("nowhere", users: 1, Self.block("t:0:1", 77, 1)),
                Self.request("nested", users: 500, Self.block("t:0:1", 0, 1)),
            ], to: .own)
        try bench.publish(Self.request("other", users: 1))
        try bench.results(4)
        try worker.stop()
        let results = try bench.resultsByRequest()
        for id in ["foreign", "nowhere", "other"] { #expect(results[id]?["state"] == "sent", "\(id)") }
        #expect(results["nested"]?["error.code"] == "tag_limit_exceeded")
    }

    @Test(.needsKafka)
    func withoutTheTopicTheWorkerSaysSoAndTakesNothing() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker { $0.topics.parents = "\(bench.name).nothing" }
        try bench.publish(Self.request("waiting", users: 1))
        #expect(eventually { worker.report(.ready).checks.contains { $0.reason?.contains("\(bench.name).nothing") == true } })
        #expect(try bench.readAll(bench.topics.results).isEmpty)
        try worker.stop()
    }
}
