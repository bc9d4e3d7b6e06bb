import Kafka
import TestSupport
import Testing

/// Requests of publishers that choose partitions otherwise than pushfan does.
@Suite(.serialized, .tags(.waits, .threads))
struct PartitionerTests {
    @Test func requestsInAnotherPartitionThanTheirKeyNamesAreCounted() throws {
        let bench = try Bench(.quickest, partitions: 4)
        let worker = try bench.startWorker()
        for (number, request) in GroupTests.requests(0..<20).enumerated() {
            let key = Array("order-\(number)".utf8)
            let other = (Producer.partition(ofKey: key.span, of: 4) + 1) % 4
            try bench.publish(Array(request.utf8), key: key, partition: number < 7 ? other : nil)
        }
        // No key names a partition of these.
        for partition in 0..<4 {
            let request = GroupTests.requests(20 + partition..<21 + partition)
            try bench.publish(all: request, partition: Int32(partition))
        }
        try bench.results(24)
        try worker.stop()
        #expect(bench.metric("pushfan_requests_elsewhere_total") == 7)
    }
}
