import HubEmulator
import Kafka
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Results that are published in the order of their requests, because the broker has no room for the map of what is finished. It is about what
/// may begin, with many requests; so no sanitizer looks at it.
@Suite(.serialized)
struct InOrderTests {
    /// Two partitions, in each of which a request that waits for its key's first one holds up the results of 9,000 others, more than may wait.
    @Test func whatHoldsUpResultsInOrderMayAlwaysBegin() throws {
        let bench = try Bench(.embedded, partitions: 2)
        bench.cluster?.failNext(apiKey: 8, codes: [12])
        var text = ByteWriter()
        text.append(Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 600_000))
        for partition in 0..<2 {
            let fields = #""ordering_key":"k","audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"}"#
            try bench.publish(
                all: [
                    #"{"id":"f\#(partition)","not_before":"\#(text.text)",\#(fields)}"#, #"{"id":"s\#(partition)",\#(fields)}"#,
                ],
                partition: Int32(partition))
            let others = (0..<9000).map {
                #"{"id":"o\#(partition)-\#($0)","audience":{"users":["a"]},"platforms":["apple"],"message":{"title":"T"},"options":{"dry_run":true}}"#
            }
            try bench.publish(all: others, partition: Int32(partition))
        }
        // The number of results that wait is the limit, not their bytes.
        let worker = try bench.startWorker { $0.memoryBudget = 1 << 30 }
        #expect(eventually { bench.metric("pushfan_records_consumed_total") > 16_384 })
        bench.clock.advance(by: .seconds(601))
        try bench.results(18_004)
        try worker.stop()
        #expect(bench.logLines.all.contains { $0.contains("publishing results in offset order") })
        #expect(bench.hub.calls().count == 4)
    }
}
