import Kafka
import Testing

@testable import ResultFeed

/// What the threads of a feed say to one another.
@Suite struct FeedMemoryTests {
    private static func make(at starts: [Int64]) -> FeedMemory {
        let memory = FeedMemory(ResultFeed.Configuration(KafkaConfiguration(bootstrapServers: "b"), topic: "r"))
        memory.begin(at: starts)
        memory.open()
        return memory
    }

    @Test(arguments: [(1, false), (2, false), (3, true)]) func partitionsThatWereAddedAreHeardOfOnce(count: Int, isMore: Bool) {
        let memory = Self.make(at: [7, 9])
        memory.note(partitionCount: count)
        #expect(memory.takeMorePartitions() == isMore)
        #expect(!memory.takeMorePartitions())
    }

    @Test(
        arguments: [
            ([0..<7, 0..<9], false), ([7..<7, 9..<20], false), ([0..<7, 10..<20], true), ([8..<8], true), ([], false),
        ] as [([Range<Int64>], Bool)])
    func retentionOvertakesWhatEndsBeforeTheBeginning(bounds: [Range<Int64>], isOvertaken: Bool) {
        #expect(Self.make(at: [7, 9]).isOvertaken(by: bounds) == isOvertaken)
    }
}
