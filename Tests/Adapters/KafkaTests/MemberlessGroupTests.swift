import TestSupport
import Testing

@testable import Kafka

/// Positions of groups that nobody joins, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct MemberlessGroupTests {
    private let mock: Mock

    init() throws { mock = try Mock(partitions: 3) }

    private func group(_ name: String) -> MemberlessGroup {
        MemberlessGroup(KafkaConfiguration(bootstrapServers: mock.bootstrapServers), id: name)
    }

    private func partitions(_ numbers: Int32...) -> [TopicPartition] { numbers.map { mock.partition($0) } }

    @Test func whatIsCommittedIsFoundInTheOrderOfTheQuestion() throws {
        defer { mock.close() }
        let first = OffsetCommit(mock.partition(0), offset: 7, metadata: "m")
        try group("a").commit([first, OffsetCommit(mock.partition(2), offset: 9)])
        try group("b").commit([OffsetCommit(mock.partition(0), offset: 1)])
        let found = try group("a").committed(partitions(2, 0, 1), timeout: farDeadline)
        #expect(found.map(\.offset) == [9, 7, nil])
        #expect(found.map(\.metadata) == ["", "m", ""])
        #expect(try group("b").committed(partitions(0, 1), timeout: farDeadline).map(\.offset) == [1, nil])
        #expect(try group("c").committed(partitions(0), timeout: farDeadline).map(\.offset) == [nil])
    }

    @Test func nothingIsAskedForNothing() throws {
        defer { mock.close() }
        #expect(try group("").committed([], timeout: .zero).isEmpty)
        try group("").commit([])
        #expect(throws: KafkaError.self) { try group("").committed(partitions(0), timeout: farDeadline) }
    }

    @Test func aGroupWithMembersIsMovedByThemAlone() throws {
        defer { mock.close() }
        let loop = try Loop(mock.bootstrapServers, group: "g")
        try loop.consumer.subscribe(["t"])
        try loop.run { loop.assignedCount > 0 }
        let error = #expect(throws: KafkaError.self) { try group("g").commit([OffsetCommit(mock.partition(0), offset: 7)]) }
        #expect(error?.isOutOfGroup == true)
        #expect(error?.message.contains("has members") == true)
        loop.consumer.close(timeout: farDeadline)
    }

    /// The group believes that they are read.
    @Test func aMemberMayAnswerAnAssignmentWithNothing() throws {
        defer { mock.close() }
        try mock.producer.write("unread", to: mock.topic)
        try mock.producer.flush(timeout: farDeadline)
        let wakeUp = WakeUp()
        let consumer = try Consumer(
            KafkaConfiguration(bootstrapServers: mock.bootstrapServers), groupID: "g", sessionTimeout: .seconds(6),
            wakeUpFileDescriptor: wakeUp.writeEnd)
        defer { consumer.close(timeout: farDeadline) }
        try consumer.subscribe(["t"])
        var assigned: [TopicPartition] = []
        let isAssigned = try eventually {
            while let event = consumer.nextEvent() {
                guard case .assigned(let partitions) = event else { continue }
                assigned = partitions
                try consumer.assign([])
            }
            return !assigned.isEmpty
        }
        #expect(isAssigned && assigned.count == 3)
        #expect(consumer.assignment.isEmpty)
        #expect(consumer.read(slot: 0) { _ in } == .empty)
        #expect(try consumer.group.metadata().memberID.isEmpty == false)
    }
}
