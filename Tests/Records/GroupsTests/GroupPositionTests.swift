import Delivery
import Kafka
import Testing

@testable import Groups

@Suite struct GroupPositionTests {
    private static func position(low: Int64 = 0, high: Int64, committed: Int64?, metadata: String = "") -> GroupPosition {
        GroupPosition(
            TopicPartition(topic: "t", partition: 0), low: low, high: high, committed: committed, metadata: metadata)
    }

    @Test func whatIsFinishedAheadOfThePositionDoesNotWait() {
        var finished = FinishedOffsets()
        for distance in [1, 3, 8] { finished.insert(distance) }
        let position = Self.position(high: 20, committed: 10, metadata: finished.encoded())
        #expect(position.finishedOffsets == [11, 13, 18])
        #expect(position.lag == 7)
        #expect(position.windowUse == 9.0 / Double(OffsetLedger.maximumWindow))
        #expect(Self.position(low: 12, high: 20, committed: 10, metadata: finished.encoded()).lag == 6)
        #expect(Self.position(low: 5, high: 20, committed: nil).lag == 15)
        #expect(Self.position(high: 20, committed: 30).lag == 0)
    }
}
