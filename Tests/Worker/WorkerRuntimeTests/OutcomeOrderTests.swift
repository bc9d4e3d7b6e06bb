import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The order in which a batch is handed to the library.
@Suite
struct OutcomeOrderTests {
    @Test(arguments: [1, 2, 12, 400] as [Int32])
    func theFirstOfEachPartitionComesFirstAndThenOneByOne(count: Int32) {
        var random = SeededRandom(Int(count))
        var batch = OutcomeBatch()
        for offset in 0..<3000 {
            let destination: OutcomeBatch.Destination = random.below(20) == 0 ? .held(Int32(random.below(3))) : .results
            batch.add(destination, of: .init(slot: 0, offset: Int64(offset))) { record in
                // Some requests have no id, and their results no key.
                if offset % 100 != 0 { record.setKey { $0.append(decimal: random.below(1000)) } }
                record.setValue { $0.append(decimal: offset) }
            }
        }
        let order = batch.order(ofPartitions: count)
        #expect(order.sorted() == Array(batch.records.indices))
        let partitions = order.map { index -> Int32 in
            let record = batch.records[index]
            guard record.destination == .results, let key = record.key else { return count }
            return Producer.partition(ofKey: batch.span(key, of: record), of: count)
        }
        let results = partitions.prefix { $0 < count }
        let partitionCount = Set(results).count
        #expect(Set(results.prefix(partitionCount)).count == partitionCount, "each joins with its first")
        #expect(partitions.dropFirst(partitionCount) == ArraySlice(partitions.dropFirst(partitionCount).sorted()))
        for partition in 0...count {
            let own = zip(partitions, order).filter { $0.0 == partition }.map(\.1)
            #expect(own == own.sorted(), "of partition \(partition)")
        }
    }
}
