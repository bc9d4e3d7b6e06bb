import TestSupport
import Testing

@testable import Kafka

@Suite(.tags(.c)) struct GroupDescriptionTests {
    /// Version 1; topic "ab" with partitions 3 and 258, topic "c" with none; no user data.
    private static let assignment: [UInt8] = [
        0, 1, 0, 0, 0, 2, 0, 2, 0x61, 0x62, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 1, 2, 0, 1, 0x63, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF,
    ]

    @Test func anAssignmentNamesItsPartitions() {
        let member = GroupMember(memberID: "m", host: "/10.0.0.7", assignment: Self.assignment)
        let expected = [TopicPartition(topic: "ab", partition: 3), TopicPartition(topic: "ab", partition: 258)]
        #expect(member == GroupMember(name: "m", host: "10.0.0.7", partitions: expected))
    }

    @Test(arguments: 0..<29)
    func anAssignmentThatIsCutOffHasNoPartitions(length: Int) {
        #expect(GroupMember(memberID: "m", host: "", assignment: Array(Self.assignment.prefix(length))).partitions.isEmpty)
    }

    @Test func anAssignmentThatPromisesTooMuchIsRefusedAtItsEnd() {
        let endless: [UInt8] = [0, 1, 0x7F, 0xFF, 0xFF, 0xFF, 0, 1, 0x61, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1]
        #expect(GroupMember(memberID: "m", host: "", assignment: endless).partitions.isEmpty)
    }

    @Test(arguments: [
        ("worker-1-0f8fad5b-d9cb-469f-a165-70867728950e", "worker-1"), ("worker-1", "worker-1"), ("", ""),
        ("0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e"),
        ("-0f8fad5b-d9cb-469f-a165-70867728950e", "-0f8fad5b-d9cb-469f-a165-70867728950e"),
        ("a-name-of-its-own-that-is-longer-than-a-uuid", "a-name-of-its-own-that-is-longer-than-a-uuid"),
    ])
    func theNameIsWhatStandsBeforeTheUUID(memberID: String, name: String) {
        let member = GroupMember(memberID: memberID, host: "", assignment: [])
        #expect(member.name == name && member.id == memberID)
    }

    @Test(arguments: [
        ("Stable", GroupDescription.State.stable), ("PreparingRebalance", .rebalancing), ("CompletingRebalance", .rebalancing),
        ("Empty", .empty), ("Dead", .absent), ("Assigning", .unknown), ("", .unknown),
    ])
    func aBrokersWordHasItsState(word: String, state: GroupDescription.State) {
        #expect(GroupDescription.State(word: word) == state)
    }
}
