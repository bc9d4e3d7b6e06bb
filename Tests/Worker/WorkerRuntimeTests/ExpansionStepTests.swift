import Delivery
import FanOut
import HubEmulator
import Observability
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Large requests whose parts do not go out in one transaction.
@Suite(.serialized)
struct ExpansionStepTests {
    /// A request to 3,200 users on one platform: 10 parts, each of which repeats 200 KB.
    private static func request(_ id: String) -> String {
        let names = (0..<3200).map { "\"\(id)-u\($0)\"" }.joined(separator: ",")
        let ballast = String(repeating: "x", count: 200_000)
        return
            #"{"id":"\#(id)","audience":{"users":[\#(names)]},"message":{"title":"T"},"platforms":["apple"],"payloads":{"baidu":{"body":"\#(ballast)"}}}"#
    }

    /// How often each user was called.
    private static func reached(_ bench: Bench) -> [String: Int] {
        var reached: [String: Int] = [:]
        for call in bench.hub.calls() {
            for tag in (call.tags ?? "").split(whereSeparator: { "() |".contains($0) }) { reached[String(tag), default: 0] += 1 }
        }
        return reached
    }

    /// The parts that are records of their own, by number; and the continuations.
    private static func written(_ bench: Bench) throws -> (parts: [Int], continuations: [Int]) {
        var (parts, continuations): ([Int], [Int]) = ([], [])
        for record in try bench.readAll(bench.topics.requestsOwn) {
            var request = PushRequest()
            let origin = RecordOrigin(topic: "", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
            let value = try #require(record.value)
            let reading = RequestReader(.strict, from: .own).read(
                value.span, headers: PushModel.RecordHeaders(), origin: origin, into: &request)
            try #require(reading == .request)
            let chunk = try #require(PartReference(of: request)).chunk
            if request.remaining == nil { parts.append(chunk) } else { continuations.append(chunk) }
        }
        return (parts.sorted(), continuations.sorted())
    }

    @Test(arguments: brokers) func aRequestWhosePartsAreManyBytesIsWrittenStepByStep(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 3)
        let worker = try bench.startWorker()
        try bench.publish(Self.request("news"))
        try bench.results(11)
        try worker.stop()
        let results = try bench.resultsByRequest()
        let whole = try #require(results["news"])
        #expect(results.count == 11 && whole.summary == "sent success - 1")
        #expect(whole["parts.count"] == 10 && whole["parts.sent"] == 10 && whole["targets.accepted"] == 160)
        for chunk in 0..<10 { #expect(results["news.\(chunk)"]?["parent.chunk"] == chunk) }
        let reached = Self.reached(bench)
        #expect(reached.count == 3200 && reached.values.allSatisfy { $0 == 1 })
        let (parts, continuations) = try Self.written(bench)
        #expect(parts == Array(0..<10))
        // Nothing is known of the brokers yet, so the first step has no more than half of the first commit.
        #expect(continuations.first == 2, "\(continuations)")
        #expect(bench.metric("pushfan_requests_expanded_total") == 1)
    }

    /// Needs transactions: without them a step may be repeated.
    @Test(.needsKafka)
    func whoeverReadsTheContinuationGoesOn() throws {
        let bench = try Bench(.real, partitions: 1)
        bench.gate.close()
        let first = try bench.startWorker { $0.maxInFlight = 4 }
        try bench.publish(Self.request("news"))
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 4 })
        first.askToStop()
        #expect(eventually { !first.report(.ready).passes })
        bench.gate.open()
        try first.wait()
        // It reads no part while the calls of the first one wait, so that it has not come to the continuation behind them.
        let written = try Self.written(bench)
        #expect(written.parts == [0, 1] && written.continuations == [2])
        // One that would divide the request otherwise.
        let second = try bench.startWorker { $0.planning.maximumCalls = 20 }
        try bench.results(11)
        try second.stop()
        let whole = try #require(try bench.resultsByRequest()["news"])
        #expect(whole["parts.count"] == 10 && whole["parts.sent"] == 10 && whole["state"] == "sent")
        #expect(try Self.written(bench).parts == Array(0..<10))
        let reached = Self.reached(bench)
        #expect(reached.count == 3200 && reached.values.allSatisfy { $0 == 1 })
    }

    @Test(arguments: brokers) func whatIsCancelledMeanwhileHasAnEndForEachPart(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker, partitions: 1)
        bench.gate.close()
        let worker = try bench.startWorker { $0.maxInFlight = 2 }
        try bench.publish(Self.request("news"))
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 2 })
        try bench.cancel(["news"])
        #expect(eventually { bench.metric("pushfan_cancellations") == 1 })
        bench.gate.open()
        try bench.results(11)
        try worker.stop()
        let results = try bench.resultsByRequest()
        let whole = try #require(results["news"])
        let (sent, partial, cancelled): (Int?, Int?, Int?) = (
            whole["parts.sent"], whole["parts.partial"], whole["parts.cancelled"]
        )
        #expect(results.count == 11 && whole["parts.count"] == 10)
        #expect((sent ?? 0) + (partial ?? 0) + (cancelled ?? 0) == 10 && (cancelled ?? 0) > 0)
    }
}
