import TestSupport
import Testing

@testable import Kafka

/// Partitions, slots, wake-ups and groups, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct AssignmentTests {
    @Test func eachSlotReadsItsPartitionFromItsOffset() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        for partition in 0..<Int32(3) {
            for number in 0..<5 { try mock.producer.write("\(partition).\(number)", to: mock.topic, partition: partition) }
        }
        try mock.producer.flush(timeout: farDeadline)
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(2), .offset(3)), (mock.partition(0), .beginning)])
        #expect(loop.consumer.assignment == [mock.partition(2), mock.partition(0)])
        try loop.run { loop.records[0].count >= 2 && loop.records[1].count >= 5 }
        #expect(loop.records[0].map(\.text) == ["2.3", "2.4"])
        #expect(loop.records[1].map(\.offset) == [0, 1, 2, 3, 4])
        #expect(loop.consumer.watermarks(slot: 0) == Watermarks(low: 0, high: 5))
    }

    @Test func takenPartitionsAreReadWithoutAGroupAndItsOffsetsAreCommitted() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        try mock.producer.write("one", to: mock.topic, partition: 1)
        try mock.producer.flush(timeout: farDeadline)
        let loop = try Loop(mock.bootstrapServers)
        loop.consumer.take([mock.partition(0), mock.partition(1)])
        try loop.run { loop.assignedCount == 1 && loop.records[1].count == 1 }
        try loop.consumer.group.commit([OffsetCommit(mock.partition(1), offset: 1)])
        let committed = try loop.consumer.group.committed([mock.partition(1)], timeout: farDeadline)
        #expect(committed.map(\.offset) == [1])
        #expect(loop.consumer.close(timeout: farDeadline))
        #expect(loop.assignedCount == 1 && loop.revokedCount == 0)
    }

    @Test func aNewAssignmentReplacesTheOldOne() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        for partition in 0..<Int32(2) {
            for number in 0..<3 { try mock.producer.write("\(number)", to: mock.topic, partition: partition) }
        }
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(0), .beginning)])
        try loop.run { loop.records[0].count >= 3 }
        try loop.assign([(mock.partition(1), .offset(2)), (mock.partition(0), .offset(1))])
        try loop.run { loop.records[0].count >= 1 && loop.records[1].count >= 2 }
        #expect(loop.records[0].map(\.offset) == [2])
        #expect(loop.records[1].map(\.offset) == [1, 2])
        try loop.consumer.unassign()
        #expect(loop.consumer.assignment.isEmpty)
        #expect(loop.consumer.read(slot: 0) { _ in } == .empty)
        #expect(loop.consumer.watermarks(slot: 0) == nil)
    }

    @Test func aPartitionThatFillsSaysItsSlot() throws {
        let mock = try Mock(partitions: 3)
        defer { mock.close() }
        let arrivals = WakeUp()
        let loop = try Loop(mock.bootstrapServers)
        defer { loop.consumer.close(timeout: .seconds(10)) }
        // The slots are not the numbers of the partitions.
        let slots = [mock.partition(2), mock.partition(0), mock.partition(1)]
        try loop.consumer.assign(slots.map { (partition: $0, start: .beginning) }, arrivals: arrivals.writeEnd)
        loop.records = slots.map { _ in [] }
        for partition in slots { try mock.producer.write("first", to: mock.topic, partition: partition.partition) }
        try loop.run { loop.records.allSatisfy { $0.count == 1 } }
        for (count, slot) in [(2, 1), (2, 0), (3, 1), (4, 1), (2, 2)] {
            while try loop.turn() {}
            while arrivals.wait(milliseconds: 0) > 0 {}
            try mock.producer.write("next", to: mock.topic, partition: slots[slot].partition)
            #expect(arrivals.numbers() == [UInt32(slot)])
            try loop.run { loop.records[slot].count == count }
        }
    }

    /// The library gives no signal for what is in a queue already when signals are asked for.
    @Test func whoReadsUntilEmptyAfterANewAssignmentMissesNothing() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers)
        for number in 0..<20 { try mock.producer.write("\(number)", to: mock.topic) }
        try mock.producer.flush(timeout: farDeadline)
        for round in 0..<5 {
            try loop.assign([(mock.partition(), .beginning)])
            // Every second time records lie in the queue, unread, when the next assignment comes.
            if round % 2 == 0 {
                _ = loop.wakeUp.wait(milliseconds: 500)
                try loop.assign([(mock.partition(), .beginning)])
            }
            try loop.run { loop.records[0].count >= 20 + round }
            while try loop.turn() {}
            while loop.wakeUp.wait(milliseconds: 0) > 0 {}
            try mock.producer.write("late", to: mock.topic)
            try mock.producer.flush(timeout: farDeadline)
            // Nothing polls from here on, except when the descriptor says so.
            while loop.records[0].count < 21 + round {
                try #require(loop.wakeUp.wait() > 0)
                _ = try loop.turn()
            }
            #expect(loop.records[0].map(\.offset) == Array(0...Int64(20 + round)))
        }
    }

    @Test func theDescriptorIsWrittenWhenAnEmptyPartitionFills() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers)
        try loop.assign([(mock.partition(), .beginning)])
        try mock.producer.write("first", to: mock.topic)
        try loop.run { loop.records[0].count == 1 }
        // Nothing polls from here on, except when the descriptor says so.
        while loop.wakeUp.wait(milliseconds: 0) > 0 {}
        for number in 2...50 {
            while try loop.turn() {}
            try mock.producer.write("next", to: mock.topic)
            while loop.records[0].count < number {
                try #require(loop.wakeUp.wait() >= 8)
                _ = try loop.turn()
            }
        }
        #expect(loop.records[0].map(\.offset) == Array(0..<50))
    }

    @Test func theEndOfAPartitionIsReportedOnlyWhenAskedFor() throws {
        let mock = try Mock()
        defer { mock.close() }
        try mock.producer.write("only", to: mock.topic)
        let asking = try Loop(mock.bootstrapServers, reportsPartitionEnd: true)
        try asking.assign([(mock.partition(), .beginning)])
        // It may be at the end before the record is there, and then once more behind it.
        try asking.run { asking.ends.contains(1) }
        #expect(asking.records[0].count == 1)
        let quiet = try Loop(mock.bootstrapServers)
        try quiet.assign([(mock.partition(), .beginning)])
        try quiet.run { quiet.records[0].count == 1 }
        while quiet.wakeUp.wait(milliseconds: 300) > 0 { _ = try quiet.turn() }
        #expect(quiet.ends.isEmpty)
    }

    @Test func membersShareTheTopicCommitWithMetadataAndGiveBack() throws {
        let mock = try Mock(partitions: 2)
        defer { mock.close() }
        let first = try Loop(mock.bootstrapServers, group: "shared")
        try first.consumer.subscribe(["t"])
        try first.run { first.assignedCount == 1 }
        #expect(Set(first.consumer.assignment) == [mock.partition(0), mock.partition(1)])
        let place = try first.consumer.group.metadata()
        #expect(place.generation.map { $0 >= 0 } == true)
        #expect(!place.memberID.isEmpty)

        let metadata = String(repeating: "a", count: 2733)
        try first.consumer.group.commit([OffsetCommit(mock.partition(0), offset: 7, metadata: metadata)])
        #expect(
            try first.consumer.group.committed([mock.partition(0), mock.partition(1)], timeout: farDeadline) == [
                CommittedOffset(partition: mock.partition(0), offset: 7, metadata: metadata),
                CommittedOffset(partition: mock.partition(1), offset: nil, metadata: ""),
            ])

        let second = try Loop(mock.bootstrapServers, group: "shared")
        try second.consumer.subscribe(["t"])
        try first.run {
            _ = try? second.turn()
            // Not how often they were assigned: on a busy machine a session can end, and the group begins anew.
            return first.consumer.assignment.count == 1 && second.consumer.assignment.count == 1
        }
        #expect(first.revokedCount >= 1)
        #expect(Set(first.consumer.assignment + second.consumer.assignment) == [mock.partition(0), mock.partition(1)])
        #expect(second.consumer.close(timeout: farDeadline))
        #expect(first.consumer.close(timeout: farDeadline))
    }

    @Test func aCommitThatTheBrokerRefusesIsAnError() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers)
        mock.cluster.failNext(apiKey: 8, codes: [12])
        let error = #expect(throws: KafkaError.self) {
            try loop.consumer.group.commit([OffsetCommit(mock.partition(), offset: 1, metadata: "m")])
        }
        #expect(error?.isMetadataTooLarge == true)
        #expect(throws: KafkaError.self) {
            try loop.consumer.group.commit([OffsetCommit(mock.partition(), offset: 1, metadata: "a\0b")])
        }
    }

    @Test func aConsumerThatNeverJoinedHasNoPlaceInItsGroup() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers)
        let error = #expect(throws: KafkaError.self) { try loop.consumer.group.metadata() }
        #expect(error?.name == "UNKNOWN_MEMBER_ID")
        #expect(error?.requiresAbort == true)
    }

    @Test func aMemberThatStalledHasNoPlaceAndClosesEvenIfItNeverAnswered() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(
            mock.bootstrapServers,
            properties: [.init(key: "max.poll.interval.ms", value: "6000"), .init(key: "statistics.interval.ms", value: "0")])
        try loop.consumer.subscribe(["t"])
        try loop.run { loop.assignedCount == 1 }
        while try loop.turn() {}
        while loop.wakeUp.wait(milliseconds: 0) > 0 {}
        // Nothing polls from here on; the next event comes when the library takes the partitions away.
        var isLost = false
        while !isLost {
            try #require(loop.wakeUp.wait() > 0)
            while let event = loop.consumer.nextEvent() {
                if case .revoked(_, let lost) = event { isLost = lost }
            }
        }
        let error = #expect(throws: KafkaError.self) { try loop.consumer.group.metadata() }
        #expect(error?.requiresAbort == true)
        #expect(loop.consumer.close(timeout: farDeadline))
    }

    @Test func aConsumerClosesThoughAnAssignmentWasNeverAnswered() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers)
        try loop.consumer.subscribe(["t"])
        let deadline = ContinuousClock.now + farDeadline
        var isAssigned = false
        while !isAssigned {
            try #require(ContinuousClock.now < deadline)
            _ = loop.wakeUp.wait(milliseconds: 100)
            while let event = loop.consumer.nextEvent() {
                if case .assigned = event { isAssigned = true }
            }
        }
        #expect(loop.consumer.close(timeout: farDeadline))
    }

    @Test func aClosedConsumerThrowsAndIsQuiet() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers)
        #expect(loop.consumer.close(timeout: farDeadline))
        #expect(loop.consumer.close(timeout: farDeadline))
        #expect(loop.consumer.nextEvent() == nil)
        let error = #expect(throws: KafkaError.self) { try loop.consumer.subscribe(["t"]) }
        #expect(error?.isClosed == true)
        #expect(throws: KafkaError.self) { try loop.consumer.group.committed([mock.partition()], timeout: .seconds(1)) }
    }

    @Test func statisticsAndLogsComeAsEvents() throws {
        let mock = try Mock()
        defer { mock.close() }
        let loop = try Loop(
            mock.bootstrapServers,
            properties: [.init(key: "statistics.interval.ms", value: "100"), .init(key: "debug", value: "cgrp")])
        try loop.run { !loop.statistics.isEmpty && !loop.logs.isEmpty }
        #expect(loop.statistics.first?.first == UInt8(ascii: "{"))
        #expect(loop.logs.contains { $0.level == 7 })
    }
}
