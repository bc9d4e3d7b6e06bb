import Foundation
import TestSupport
import Testing

@testable import Kafka

/// EVERYTHING HERE NEEDS A REAL BROKER: the embedded one only pretends to do transactions. Set PUSHFAN_TEST_KAFKA to its bootstrap servers.
/// A run without it proves nothing about exactly-once; the count of skipped tests says so.
@Suite(.needsKafka, .serialized)
struct RealBrokerTests {
    private let configuration = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    /// A name that no earlier run on the same broker used.
    private let name = "kafka-tests-\(UUID().uuidString)"

    private func makeTopic(partitions: Int) throws {
        let topic = NewTopic(name: name, partitionCount: partitions, replicationFactor: 1)
        let admin = try TopicAdmin(configuration)
        #expect(try admin.createTopics([topic], timeout: farDeadline) == [.created])
        // The broker that answers next may not have heard of the topic yet.
        let deadline = ContinuousClock.now + farDeadline
        while try admin.describe(topics: [name], timeout: farDeadline).topics != [.existing(partitionCount: partitions)] {
            try #require(ContinuousClock.now < deadline)
        }
    }

    private func partition(_ number: Int32 = 0) -> TopicPartition { TopicPartition(topic: name, partition: number) }

    private func transactional(_ id: String) throws -> (Producer, Producer.Topic) {
        let producer = try Producer(configuration, transactionalID: id, transactionTimeout: farDeadline)
        let topic = try #require(try producer.warmUp(topics: [name], timeout: farDeadline).first)
        try producer.initTransactions(timeout: farDeadline)
        return (producer, topic)
    }

    private func join(instance: String? = nil, sessionTimeout: Duration = .seconds(6)) throws -> Loop {
        let loop = try Loop(configuration.bootstrapServers, group: name, instance: instance, sessionTimeout: sessionTimeout)
        try loop.consumer.subscribe([name])
        try loop.run { loop.assignedCount > 0 && !loop.consumer.assignment.isEmpty }
        return loop
    }

    @Test func theBrokersThreadsAreWokenWhenAFullQueueRunsLow() throws {
        try makeTopic(partitions: 1)
        let producer = try Producer(configuration, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        let topic = try #require(try producer.warmUp(topics: [name], timeout: farDeadline).first)
        let value = [UInt8](repeating: 120, count: 100)
        for _ in 0..<10_000 {
            try producer.produce(to: topic, partition: 0, key: nil, value: value.span, headers: HeaderList())
        }
        try producer.flush(timeout: farDeadline)
        let loop = try Loop(configuration.bootstrapServers, group: name)
        try loop.consumer.subscribe([name])
        try loop.run(reading: false) { !loop.consumer.assignment.isEmpty }
        // A library that needs no waking has nothing to watch.
        guard loop.consumer.refill != nil else { return }
        var readCount = 0
        try loop.run(reading: false) {
            loop.consumer.keepFetching([0])
            // Until the queue was seen full nothing is read; then all that is in it.
            while loop.consumer.refill?.hasSeenFullQueue == true, case .record = loop.consumer.read(slot: 0, perform: { _ in }) {
                readCount += 1
            }
            return loop.consumer.refill?.answerCount ?? 0 > 0
        }
        #expect(readCount >= PrefetchRefill.defaultLimit)
    }

    @Test func aCommittedTransactionStoresOffsetsAndMetadataAndAnAbortedOneDoesNot() throws {
        try makeTopic(partitions: 1)
        let loop = try join()
        let group = loop.consumer.group
        let (producer, topic) = try transactional(name)
        defer { producer.close(timeout: .seconds(5)) }
        let metadata = String(repeating: "A", count: 3000)

        try producer.beginTransaction()
        try producer.write("committed", to: topic)
        try producer.sendOffsets(
            [OffsetCommit(partition(), offset: 7, metadata: metadata)], group: group.metadata(), timeout: farDeadline)
        try producer.commitTransaction(timeout: nil)
        #expect(producer.failedDeliveries == DeliveryFailures())
        let stored = CommittedOffset(partition: partition(), offset: 7, metadata: metadata)
        #expect(try group.committed([partition()], timeout: farDeadline) == [stored])

        try producer.beginTransaction()
        try producer.write("aborted", to: topic)
        // So the abort purges nothing that has a sequence number already, which brokers would then miss.
        try producer.flush(timeout: farDeadline)
        try producer.sendOffsets(
            [OffsetCommit(partition(), offset: 9, metadata: "B")], group: group.metadata(), timeout: farDeadline)
        try producer.abortTransaction(timeout: nil)
        #expect(try group.committed([partition()], timeout: farDeadline) == [stored])

        try producer.beginTransaction()
        try producer.write("last", to: topic)
        try producer.commitTransaction(timeout: nil)
        // First who waits: a commit is confirmed before its marker stands in every partition, and a reader asks once where its end is.
        try loop.run { loop.records.first?.count ?? 0 >= 2 }
        #expect(loop.records.first?.map(\.text) == ["committed", "last"])
        let reader = try TopicReader(configuration, topic: name, start: .beginning, timeout: farDeadline)
        #expect(try readToEnd(reader).map(\.text) == ["committed", "last"])
    }

    @Test func whatAnOpenTransactionWroteEndsAPartitionOnlyForThoseWhoSeeTheUncommitted() throws {
        try makeTopic(partitions: 3)
        let (producer, topic) = try transactional(name)
        defer { producer.close(timeout: .seconds(5)) }
        try producer.beginTransaction()
        try producer.write("open", to: topic, partition: 2)
        try producer.flush(timeout: farDeadline)
        func ends(seesUncommitted: Bool) throws -> [Int64] {
            try TopicAdmin(configuration, seesUncommitted: seesUncommitted).ends(of: [2, 0], in: name, timeout: farDeadline)
        }
        #expect(try ends(seesUncommitted: true) == [1, 0])
        #expect(try ends(seesUncommitted: false) == [0, 0])
        for seesUncommitted in [false, true] {
            let fetcher = try RecordFetcher(configuration, readAhead: 1 << 20, seesUncommitted: seesUncommitted)
            defer { fetcher.stop() }
            #expect(try fetcher.endOffsets(of: [0, 2], in: name, timeout: farDeadline) == [0, seesUncommitted ? 1 : 0])
            let record = try fetcher.firstRecord(from: 0, of: partition(2), timeout: farDeadline)
            #expect((record?.value == Array("open".utf8)) == seesUncommitted)
        }
        try producer.commitTransaction(timeout: nil)
        // A commit is confirmed before its marker stands in every partition.
        #expect(try eventually { try ends(seesUncommitted: false) == [2, 0] })
    }

    @Test func aTopicHasGrownByWhatWasWrittenSinceATime() throws {
        try makeTopic(partitions: 3)
        let producer = try Producer(configuration, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        let topic = try #require(try producer.warmUp(topics: [name], timeout: farDeadline).first)
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        for (partition, age) in [(0, 300_001), (1, 400_000), (1, 300_000), (1, 0)] as [(Int32, Int64)] {
            try producer.write("x", to: topic, partition: partition, timestamp: now - age)
        }
        try producer.flush(timeout: farDeadline)
        let growths = try producer.growths(of: [name], since: now - 300_000, timeout: farDeadline)
        #expect(
            growths == [
                PartitionGrowth(partition(0), from: nil, to: 1), PartitionGrowth(partition(1), from: 1, to: 3),
                PartitionGrowth(partition(2), from: nil, to: 0),
            ])
        #expect(growths.map(\.count) == [0, 2, 0])
    }

    @Test func metadataThatIsTooLongForTheBrokerIsToldApart() throws {
        try makeTopic(partitions: 1)
        let loop = try join()
        let (producer, topic) = try transactional(name)
        defer { producer.close(timeout: .seconds(5)) }
        try producer.beginTransaction()
        try producer.write("x", to: topic)
        let metadata = String(repeating: "A", count: 5000)
        let error = #expect(throws: KafkaError.self) {
            try producer.sendOffsets(
                [OffsetCommit(partition(), offset: 1, metadata: metadata)], group: loop.consumer.group.metadata(),
                timeout: farDeadline)
        }
        #expect(error?.isMetadataTooLarge == true)
        // A busy broker may have ended it by itself.
        try? producer.abortTransaction(timeout: nil)
    }

    @Test func aSecondProducerWithTheSameIDFencesTheFirst() throws {
        try makeTopic(partitions: 1)
        let (first, topic) = try transactional(name)
        defer { first.close(timeout: .zero) }
        try first.beginTransaction()
        try first.write("zombie", to: topic)
        try first.flush(timeout: farDeadline)
        let (second, sameTopic) = try transactional(name)
        defer { second.close(timeout: .seconds(5)) }
        let error = #expect(throws: KafkaError.self) {
            try first.write("zombie", to: topic)
            try first.commitTransaction(timeout: farDeadline)
        }
        #expect(error?.isFenced == true)
        #expect(error?.isFatal == true)
        try second.beginTransaction()
        try second.write("alive", to: sameTopic)
        try second.commitTransaction(timeout: nil)
        // A commit is confirmed before its marker stands in every partition.
        #expect(
            try eventually {
                let reader = try TopicReader(configuration, topic: name, start: .beginning, timeout: farDeadline)
                return try readToEnd(reader).map(\.text) == ["alive"]
            })
    }

    @Test func offsetsOfAMemberThatLeftAreRefused() throws {
        try makeTopic(partitions: 1)
        let loop = try join()
        let old = try loop.consumer.group.metadata()
        #expect(loop.consumer.close(timeout: farDeadline))
        let (producer, topic) = try transactional(name)
        defer { producer.close(timeout: .seconds(5)) }
        try producer.beginTransaction()
        try producer.write("x", to: topic)
        let error = #expect(throws: KafkaError.self) {
            try producer.sendOffsets([OffsetCommit(partition(), offset: 1)], group: old, timeout: farDeadline)
        }
        #expect(error?.requiresAbort == true)
        try producer.abortTransaction(timeout: nil)
    }

    @Test func aMemberWithANameComesBackWithoutARebalance() throws {
        try makeTopic(partitions: 2)
        // Longer than any pause of a busy machine: the one that goes has to come back before it is over.
        let session = Duration.seconds(45)
        let stays = try join(instance: "stays", sessionTimeout: session)
        let goes = try Loop(configuration.bootstrapServers, group: name, instance: "goes", sessionTimeout: session)
        try goes.consumer.subscribe([name])
        try stays.run {
            _ = try? goes.turn()
            return stays.consumer.assignment.count == 1 && goes.consumer.assignment.count == 1
        }
        let owned = goes.consumer.assignment
        let generation = try stays.consumer.group.metadata().generation
        #expect(goes.consumer.close(timeout: farDeadline))
        let back = try join(instance: "goes", sessionTimeout: session)
        #expect(back.consumer.assignment == owned)
        _ = try stays.turn()
        #expect(stays.revokedCount <= 1, "only the arrival of the second member may have caused a rebalance")
        #expect(try stays.consumer.group.metadata().generation == generation)
    }

    @Test func aSecondMemberWithTheSameNameMakesTheFirstFailForGood() throws {
        try makeTopic(partitions: 1)
        let first = try join(instance: "twin")
        let second = try join(instance: "twin")
        try first.run { first.errors.contains { $0.isFatal } }
        #expect(first.errors.contains { $0.isFatal && $0.isFenced })
        first.consumer.close(timeout: .seconds(10))
        #expect(second.consumer.assignment == [partition()])
    }

    @Test func aGroupIsDescribedWithItsMembersAndWhatTheyRead() throws {
        try makeTopic(partitions: 3)
        let admin = try TopicAdmin(configuration)
        #expect(try admin.describe(group: name, timeout: farDeadline) == GroupDescription(state: .absent, members: []))
        let loop = try join(instance: "worker-1")
        var group = try admin.describe(group: name, timeout: farDeadline)
        #expect(group.state == .stable)
        #expect(group.members.map(\.name) == ["worker-1"])
        #expect(try group.members.map(\.id) == [loop.consumer.group.metadata().memberID])
        #expect(group.coordinator.map { $0 > 0 } == true, "the ids of Kafka's nodes begin with 1 here")
        #expect(group.members.first.map { Set($0.partitions) } == Set((0..<3).map { partition($0) }))
        try loop.consumer.group.commit([OffsetCommit(partition(), offset: 0, metadata: "")])
        loop.consumer.close(timeout: .seconds(10))
        let deadline = ContinuousClock.now + farDeadline
        while group.state != .empty, ContinuousClock.now < deadline {
            group = try admin.describe(group: name, timeout: farDeadline)
        }
        #expect(group.state == .empty && group.members.isEmpty, "its session of 6 s is over")
    }

    @Test func topicsAreCreatedDescribedAndToldApart() throws {
        let admin = try TopicAdmin(configuration)
        let topics = [
            NewTopic(
                name: name, partitionCount: 3, replicationFactor: 1,
                configuration: [.init(key: "retention.ms", value: "86400000")]),
            NewTopic(name: "\(name)-greedy", partitionCount: 1, replicationFactor: 99),
        ]
        let first = try admin.createTopics(topics, timeout: farDeadline)
        try #require(first.count == 2)
        #expect(first[0] == .created)
        guard case .failed(let error) = first[1] else {
            Issue.record("99 replicas must fail, not \(first[1])")
            return
        }
        #expect(error.name == "INVALID_REPLICATION_FACTOR")
        #expect(try admin.createTopics([topics[0]], timeout: farDeadline) == [.alreadyExists])
        // A broker learns a little later of what the controller has confirmed.
        var description = try admin.describe(topics: [name, "\(name)-missing"], timeout: farDeadline)
        let isKnown = try eventually {
            description = try admin.describe(topics: [name, "\(name)-missing"], timeout: farDeadline)
            return description.topics[0] != .missing
        }
        #expect(isKnown)
        #expect(description.topics == [.existing(partitionCount: 3), .missing])
        #expect(description.brokerCount >= 1)
        #expect(description.clusterID?.isEmpty == false)
        let settings = try admin.settings(ofTopic: name, timeout: farDeadline)
        #expect(settings.contains(TopicSetting(name: "retention.ms", value: "86400000", isDefault: false)))
        #expect(throws: KafkaError.self) { try admin.settings(ofTopic: "\(name)-missing", timeout: farDeadline) }
        let both = try admin.settings(ofTopics: ["\(name)-missing", name], timeout: farDeadline)
        #expect(both.map { (try? $0.get().count) ?? 0 } == [0, settings.count])
    }

    @Test func aDeletedTopicIsGoneAndDeletingItAgainDoesNoHarm() throws {
        try makeTopic(partitions: 1)
        let admin = try TopicAdmin(configuration)
        #expect(try admin.deleteTopics([name], timeout: farDeadline).isEmpty)
        let deadline = ContinuousClock.now + farDeadline
        while try admin.describe(topics: [name], timeout: farDeadline).topics != [.missing] {
            try #require(ContinuousClock.now < deadline)
        }
        #expect(try admin.deleteTopics([name], timeout: farDeadline).isEmpty)
    }

    @Test func aReaderStartsAtATime() throws {
        try makeTopic(partitions: 2)
        let producer = try Producer(configuration, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        let topic = try #require(try producer.warmUp(topics: [name], timeout: farDeadline).first)
        // A broker refuses times that are far from now.
        let start = Int64(Date().timeIntervalSince1970 * 1000) - 10_000
        for number in 0..<Int64(5) { try producer.write("\(number)", to: topic, partition: 0, timestamp: start + number * 1000) }
        try producer.flush(timeout: farDeadline)
        #expect(producer.failedDeliveries == DeliveryFailures())
        let reader = try TopicReader(configuration, topic: name, start: .time(start + 2500), timeout: farDeadline)
        #expect(try readToEnd(reader).map(\.text) == ["3", "4"])
    }
}
