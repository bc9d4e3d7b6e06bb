import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Large requests that wait in delay lanes, and what they leave to others meanwhile.
@Suite(.serialized, .tags(.threads))
struct LargeDelayTests {
    private static func request(_ name: String, _ fields: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(fields)}"#
    }

    /// Milliseconds since 1970.
    private static func now(_ bench: Bench) -> Int64 { bench.clock.millisecondsSince1970 }

    private static func notBefore(_ moment: Int64) -> String {
        var text = ByteWriter()
        text.append(Timestamp(milliseconds: moment))
        return #","not_before":"\#(text.text)""#
    }

    private static func calls(_ bench: Bench, _ name: String) -> [RecordedCall] { bench.hub.calls().filter { $0.tags == name } }

    /// Whether a worker's status of after `moment` has a first record in each of so many partitions of delay lanes.
    private static func knowsHeads(_ bench: Bench, _ count: Int, after moment: Int64 = 0) -> Bool {
        guard let status = bench.status.statuses.first, status.at.milliseconds > moment else { return false }
        return status.partitions.count { bench.topics.delays.contains($0.topic) && $0.oldest != nil } == count
    }

    /// Writes a record of 440 KB to each of eight partitions of the lane of 10 minutes, as a worker would have: they are due in 11 minutes.
    private static func writeLarge(_ names: [String], due: Int64, to bench: Bench) throws {
        let producer = try Producer(bench.kafka, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [bench.topics.delays[2]], timeout: farDeadline).first)
        let history =
            #"{"v":1,"plan":"0","consumed":1,"throttled":0,"hub":0,"calls":[{"attempts":0,"due":\#(due)}],"attempts":[]}"#
        func headers() -> HeaderList {
            var list = HeaderList()
            for (name, value) in [
                ("pushfan-group", bench.name), ("pushfan-lane", "normal"), ("pushfan-origin-topic", bench.topics.requests),
                ("pushfan-origin-partition", "0"), ("pushfan-origin-offset", "0"), ("pushfan-origin-timestamp-ms", "1"),
                ("pushfan-not-before-ms", "\(due)"), ("pushfan-history", history),
            ] {
                list.append(name: Array(name.utf8).span, value: Array(value.utf8).span)
            }
            return list
        }
        let filler = #","filler":"\#(String(repeating: "x", count: 440_000))""#
        for (index, name) in names.enumerated() {
            let value = Array(request(name, filler).utf8)
            try producer.produce(
                to: topic, partition: Int32(index), key: nil, value: value.span, headers: headers(), timestamp: now(bench))
        }
        try producer.flush(timeout: farDeadline)
    }

    /// The first records of eight partitions take 7 MB as they are read, and requests in work have 6 MiB.
    @Test(.needsKafka)
    func whatWaitsInLanesTakesNoRoomOfWhatGoesOn() throws {
        let bench = try Bench(.real, partitions: 8)
        let change = { (configuration: inout WorkerConfiguration) in configuration.memoryBudget = 16 << 20 }
        let due = Self.now(bench) + 660_000
        let names = (0..<8).map { "large\($0)" }
        try Self.writeLarge(names, due: due, to: bench)
        let first = try bench.startWorker("w1", change: change)
        #expect(eventually { Self.knowsHeads(bench, 8) })
        try bench.publish(Self.request("small"))
        try bench.results(1)
        try first.stop()
        let restart = Self.now(bench)
        let second = try bench.startWorker("w1", change: change)
        #expect(eventually { Self.knowsHeads(bench, 8, after: restart) })
        try bench.publish(Self.request("after"))
        try bench.results(2)
        // One of them ends before its time.
        try bench.cancel([names[1]])
        try bench.results(3)
        #expect(eventually { Self.knowsHeads(bench, 7, after: restart) })
        #expect(bench.hub.calls().count == 2)
        bench.clock.advance(by: .seconds(700))
        try bench.results(10)
        try second.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 10 && results[names[1]]?.summary == "cancelled cancelled cancelled 0")
        for name in names where name != names[1] {
            #expect(results[name]?.summary == "sent success - 1")
            let calls = Self.calls(bench, name)
            #expect(calls.count == 1 && calls.allSatisfy { $0.at >= due }, "\(name)")
        }
    }

    /// Large and small ones in one partition of a lane go on one after the other, and each in its time.
    @Test(arguments: brokers) func largeRequestsInALaneKeepTheirPlaceBeforeThoseBehindThem(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        let worker = try bench.startWorker { $0.maxInFlight = 1 }
        #expect(eventually { worker.report(.ready).passes })
        let filler = #","filler":"\#(String(repeating: "x", count: 100_000))""#
        var dues: [Int64] = []
        for number in 0..<8 {
            // The lane of 10 minutes takes it, unless a whole minute goes by until it is read.
            let due = max(Self.now(bench) + 660_000, (dues.last ?? 0) + 300)
            dues.append(due)
            try bench.publish(Self.request("r\(number)", Self.notBefore(due) + (number % 3 == 0 ? filler : "")))
            #expect(eventually { bench.metric("pushfan_delayed_total") >= Double(number + 1) })
        }
        #expect(eventually { Self.knowsHeads(bench, 1) })
        bench.clock.advance(by: .milliseconds(dues[0] - 1000 - Self.now(bench)))
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 8 })
        try bench.results(8)
        try worker.stop()
        #expect(try bench.resultsByRequest().values.allSatisfy { $0.summary == "sent success - 1" })
        let calls = bench.hub.calls()
        #expect(calls.compactMap(\.tags) == (0..<8).map { "r\($0)" })
        for (call, due) in zip(calls, dues) { #expect(call.at >= due) }
    }
}
