import Kafka
import TestSupport
import Testing

@testable import CallbackRecords

@Suite(.tags(.threads)) struct GroupPositionKeeperTests {
    private let broker: CallbackBroker
    private let keeper: GroupPositionKeeper
    private let starts = Box<[CallbackStart]>([])

    init() throws {
        broker = try CallbackBroker(partitions: 3)
        keeper = GroupPositionKeeper(
            broker.kafka, topics: broker.topics, transactionalID: nil, timeout: farDeadline
        ) { [starts] _, start in starts.withLock { $0.append(start) } }
    }

    private func committed(_ receiver: String) throws -> [Int64?] {
        let group = MemberlessGroup(broker.kafka, id: CallbackTopics.group(of: receiver))
        return try group.committed((0..<3).map { partition($0) }, timeout: farDeadline).map(\.offset)
    }

    @Test func aNewReceiverBeginsAtTheEndOfAllResults() throws {
        try broker.writeResults(4, partition: 1)
        try broker.writeResults(2, partition: 2)
        let replays = partition(0, of: broker.topics.replays)
        #expect(try keeper.load("shop", in: [partition(1), replays]) == [partition(1): 4, replays: 0])
        // At once, also where it is another process that reads.
        #expect(try committed("shop") == [0, 4, 2])
        try broker.writeResults(3, partition: 1)
        try broker.writeResults(3, partition: 2)
        #expect(try keeper.load("shop", in: [partition(1), partition(2)]) == [partition(1): 4, partition(2): 2])
        #expect(starts.withLock { $0 } == [.new])
        keeper.close()
    }

    @Test func aReceiverThatBrokersHaveForgottenBeginsWithTheOldestResultAndRepeatsNoReplay() throws {
        try broker.writeResults(4, partition: 1)
        let replays = partition(2, of: broker.topics.replays)
        try broker.write(CallbackBroker.result("again"), to: broker.topics.replays, partition: 2)
        let begun = ReceiverMemory(broker.kafka, topic: broker.topics.states, timeout: farDeadline)
        try begun.note("shop")
        begun.close()
        // Another process learns it from the topic, whichever partitions it has.
        #expect(try keeper.load("shop", in: [replays]) == [replays: 1])
        #expect(try keeper.load("shop", in: [partition(1), replays]) == [partition(1): 0, replays: 1])
        #expect(try committed("shop") == [0, 0, 0])
        #expect(starts.withLock { $0 } == [.forgotten])
        keeper.close()
    }

    @Test func whoeverHasAPositionIsRememberedAndIsNoReceiverOfTheStates() throws {
        try keeper.save("shop", at: [partition(0): 7])
        _ = try keeper.load("shop", in: [partition(0)])
        _ = try keeper.load("shop", in: [partition(0)])
        keeper.close()
        let key = ReceiverMemory.prefix + "shop"
        #expect(try broker.values(of: broker.topics.states).mapValues(\.count) == [key: 1])
        #expect(try ReceiverStates.read(broker.topics.states, by: broker.context).isEmpty)
    }

    @Test func withoutTheTopicOfStatesAReceiverIsNew() throws {
        broker.cluster.setTopic(broker.topics.states, isMissing: true)
        try broker.writeResults(2, partition: 0)
        #expect(try keeper.load("shop", in: [partition(0)]) == [partition(0): 2])
        #expect(starts.withLock { $0 } == [.new])
        keeper.close()
    }

    @Test func aKnownReceiverReadsAPartitionThatCameLaterFromItsBeginning() throws {
        try keeper.save("shop", at: [partition(0): 0])
        try broker.writeResults(5, partition: 2)
        #expect(try keeper.load("shop", in: [partition(0), partition(2)]) == [partition(0): 0, partition(2): 0])
        #expect(starts.withLock { $0 } == [.added([partition(2)])])
    }

    @Test func whatIsSavedIsLoaded() throws {
        let replays = partition(1, of: broker.topics.replays)
        try keeper.save(["shop": [partition(0): 7, replays: 3], "bank": [partition(0): 9], "idle": [:]])
        #expect(try keeper.load("shop", in: [partition(0), replays]) == [partition(0): 7, replays: 3])
        #expect(try keeper.load("bank", in: [partition(0)]) == [partition(0): 9])
        #expect(try committed("idle") == [nil, nil, nil])
    }

    @Test func theEmbeddedClusterKeepsPositionsWithoutTransactions() throws {
        let keeper = GroupPositionKeeper(broker.kafka, topics: broker.topics, transactionalID: "callbacks", timeout: farDeadline)
        defer { keeper.close() }
        try keeper.save(["shop": [partition(1): 5]])
        #expect(try committed("shop") == [nil, 5, nil])
    }

    @Test func withoutItsTopicNothingIsSaid() throws {
        broker.cluster.setTopic(broker.topics.results, isMissing: true)
        let error = #expect(throws: KafkaError.self) { try keeper.load("shop", in: [partition(0)]) }
        #expect(error?.isUnknownTopicOrPartition == true)
    }
}

/// Transactions need a real broker.
@Suite(.needsKafka, .serialized) struct TransactionalPositionTests {
    private let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    private let name = "callback-tests-\(UInt64.random(in: 0 ... .max))"

    private func keeper(_ topics: CallbackTopics) -> GroupPositionKeeper {
        GroupPositionKeeper(kafka, topics: topics, transactionalID: name, timeout: farDeadline)
    }

    @Test func positionsOfManyReceiversAreKeptInOneTransactionAndByTheNextProcess() throws {
        let topics = CallbackTopics(results: name, states: name + "-s", deadLetters: "", replays: name + "-r")
        let admin = try TopicAdmin(kafka)
        let topic = NewTopic(name: name, partitionCount: 2, replicationFactor: 1)
        #expect(try admin.createTopics([topic], timeout: farDeadline) == [.created])
        #expect(
            try eventually { try admin.describe(topics: [name], timeout: farDeadline).topics == [.existing(partitionCount: 2)] })
        let first = keeper(topics)
        let partitions = [partition(0, of: name), partition(1, of: name)]
        for receiver in ["a", "b"].map({ name + $0 }) {
            #expect(try first.load(receiver, in: partitions) == [partitions[0]: 0, partitions[1]: 0])
        }
        try first.save([name + "a": [partitions[0]: 5], name + "b": [partitions[1]: 6]])
        try first.save([name + "a": [partitions[0]: 8]])
        let second = keeper(topics)
        try second.save([name + "b": [partitions[1]: 9]])
        // The next process has taken its place.
        #expect(throws: KafkaError.self) { try first.save([name + "a": [partitions[0]: 1]]) }
        #expect(try second.load(name + "a", in: partitions) == [partitions[0]: 8, partitions[1]: 0])
        #expect(try second.load(name + "b", in: partitions) == [partitions[0]: 0, partitions[1]: 9])
        first.close()
        second.close()
        _ = try admin.deleteTopics([name], timeout: farDeadline)
    }
}
