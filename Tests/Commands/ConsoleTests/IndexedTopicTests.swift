import Foundation
import Kafka
import TestSupport
import Testing

@testable import Console

/// Needs a real broker: the embedded one has no transactions, and deletes no topics.
@Suite(.needsKafka, .serialized)
struct IndexedTopicTests {
    private let topic = "console-tests-\(UUID().uuidString)"
    private let folder: TemporaryFolder
    private let configuration = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    private var random = RandomResults(seed: 11)

    init() throws {
        folder = try TemporaryFolder()
        try makeTopic()
    }

    private func makeTopic() throws {
        let admin = try TopicAdmin(configuration)
        let deadline = ContinuousClock.now + farDeadline
        let new = NewTopic(name: topic, partitionCount: 3, replicationFactor: 1)
        while try admin.createTopics([new], timeout: farDeadline) != [.created] {
            try #require(ContinuousClock.now < deadline)
        }
        while try admin.describe(topics: [topic], timeout: farDeadline).topics != [.existing(partitionCount: 3)] {
            try #require(ContinuousClock.now < deadline)
        }
    }

    /// Writes records in pairs of transactions, of which the second one is taken back.
    ///
    /// A transaction may be committed before its records can be read. The next one of the same producer begins when they can, so all can
    /// be read in the end.
    private mutating func write(pairs count: Int) throws {
        let producer = try Producer(configuration, transactionalID: "\(topic)-writer", transactionTimeout: farDeadline)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [self.topic], timeout: farDeadline).first)
        try producer.initTransactions(timeout: farDeadline)
        for number in 0..<2 * count {
            try producer.beginTransaction()
            for record in random.records(20) {
                let value = record.value ?? []
                try producer.produce(
                    to: topic, partition: record.partition, key: nil, value: value.span, timestamp: record.time)
            }
            try producer.flush(timeout: farDeadline)
            if number % 2 == 0 {
                try producer.commitTransaction(timeout: farDeadline)
            } else {
                try producer.abortTransaction(timeout: farDeadline)
            }
        }
    }

    private func run(_ line: String) -> Outcome {
        var harness = Harness()
        harness.environment["PUSHFAN_KAFKA_BOOTSTRAP_SERVERS"] = TestVariables.kafka
        // Far: beside other work a reading may stand still for longer than the 10 s that it has by default.
        return harness.run("\(line) --results-topic \(topic) --timeout 300s")
    }

    /// Asks each command with the index and without; only the first may find that the topic is another one.
    private func expectSameAnswers(anew isMadeAnew: Bool = false, _ place: SourceLocation = #_sourceLocation) {
        for (number, command) in ["failed -o json", "results list -n 1000 -o ndjson", "results show a -o ndjson"].enumerated() {
            let with = run("\(command) --index=\(folder.path("i.sqlite"))")
            let without = run(command)
            #expect(with.output == without.output, "\(command): \(with.messages) \(without.messages)", sourceLocation: place)
            #expect(!with.output.isEmpty, sourceLocation: place)
            let isAnew = with.messages.contains("has records that the topic does not have and is rebuilt")
            #expect(isAnew == (isMadeAnew && number == 0), "\(with.messages)", sourceLocation: place)
            #expect(!with.messages.contains("is not used"), "\(with.messages)", sourceLocation: place)
        }
    }

    @Test mutating func anIndexFollowsATopicWithTransactions() throws {
        for _ in 0..<3 {
            try write(pairs: 2)
            expectSameAnswers()
        }
    }

    @Test mutating func aTopicThatWasDeletedAndMadeAgainIsNoticed() throws {
        try write(pairs: 2)
        expectSameAnswers()
        let admin = try TopicAdmin(configuration)
        #expect(try admin.deleteTopics([topic], timeout: farDeadline).isEmpty)
        // What is written while the old one is still there is lost with it.
        #expect(try eventually { try admin.describe(topics: [topic], timeout: farDeadline).topics == [.missing] })
        try makeTopic()
        // Longer than before, so that the ends tell nothing.
        try write(pairs: 5)
        expectSameAnswers(anew: true)
    }
}
