import Delivery
import HubEmulator
import Kafka
import Outcomes
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// Results with headers, and without any.
@Suite(.serialized)
struct ResultHeaderTests {
    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// Key, value and names of headers of a request's result, and of the outcome of its call.
    private static func results(
        _ more: [(String, String)], writesHeaders: Bool
    ) -> [(key: String, value: String, headers: [String])] {
        let json = Array(#"{"id":"a","audience":{"users":["u"]},"platforms":["apple"],"message":{"title":"T"}}"#.utf8)
        let origin = RecordOrigin(topic: "requests", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 1000))
        let flight = Flight(index: 0)
        flight.begin(epoch: 0, slot: 3, origin: origin, now: Timestamp(milliseconds: 2000), monotonic: 0)
        var headers = RecordHeaders()
        for (name, value) in more { headers.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        _ = RequestReader(.tolerant).read(json.span, headers: headers, origin: origin, into: &flight.request)
        flight.report.calls = [DeliveryReport.Call(platform: .apple)]
        flight.report.calls[0].outcome = .success
        var recorder = ResultRecorder(workerID: "w", version: "test", writesHeaders: writesHeaders)
        var batch = OutcomeBatch()
        let now = Timestamp(milliseconds: 3000)
        _ = recorder.record(flight, hub: ByteWriter(), now: now, into: &batch)
        #expect(recorder.recordUnasked(0, of: flight, hub: "shop", now: now, into: &batch))
        return batch.records.map { record in
            let names = batch.headers[record.headers].map { batch.text($0.name, of: record) }
            return (batch.text(record.key, of: record), batch.text(record.value, of: record), names)
        }
    }

    @Test(arguments: [[], [("traceparent", trace)], [("traceparent", trace), ("tracestate", "v=1")]] as [[(String, String)]])
    func keyAndValueAreTheSameByteForByte(_ headers: [(String, String)]) throws {
        let (with, without) = (Self.results(headers, writesHeaders: true), Self.results(headers, writesHeaders: false))
        try #require(with.count == 2 && without.count == 2)
        for (one, other) in zip(with, without) {
            #expect(one.key == "a" && other.key == "a")
            #expect(one.value.hasPrefix("{") && one.value == other.value)
            #expect(Set(one.headers).isSuperset(of: ResultHeader.allCases.filter(\.isAlwaysThere).map(\.rawValue)))
            #expect(other.headers.isEmpty)
        }
        #expect(with[0].headers.count == (headers.isEmpty ? 9 : 9 + headers.count))
    }

    /// A rejected request, one with an outcome, and a large one in parts: each kind of result that there is.
    @Test(arguments: [true, false]) func everyKindOfResultHasThemOrNone(_ haveHeaders: Bool) throws {
        let bench = try Bench(.quickest, partitions: 2)
        bench.hub.script([try TelemetryScript(parsing: "state=Completed,apple.Success=1,tags=one")])
        let worker = try bench.startWorker { $0.resultsHaveHeaders = haveHeaders }
        let users = (0..<1234).map { "\"u\($0)\"" }.joined(separator: ",")
        try bench.publish(all: [
            #"{"id":"bad"}"#, #"{"id":"large","audience":{"users":[\#(users)]},"message":{"title":"T"}}"#,
            #"{"id":"one","audience":{"categories":["one"]},"platforms":["apple"],"message":{"title":"T"},"#
                + #""options":{"track_outcome":true}}"#,
        ])
        // 13 parts, the whole, and the two others.
        try bench.results(16)
        bench.clock.advance(by: .seconds(11))
        let results = try bench.results(17)
        try worker.stop()
        #expect(Set(results.map { ($0["kind"] as String?) ?? "" }) == ["final", "outcome"])
        #expect(Set(results.map(\.requestID)).isSuperset(of: ["bad", "large", "large.12", "one"]))
        for result in results {
            #expect(ResultSchema.violations(of: result.record.value ?? []).isEmpty)
            #expect(result.record.key == Array(result.requestID.utf8))
            #expect((result.record.header("ce_id") == result["result_id"]) == haveHeaders, "\(result.requestID)")
            #expect(result.record.headers.isEmpty != haveHeaders, "\(result.requestID)")
        }
    }
}
