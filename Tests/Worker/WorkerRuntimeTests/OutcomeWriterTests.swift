import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// A batch on its way to topics that the producer has not heard of yet.
@Suite(.tags(.waits))
struct OutcomeWriterTests {
    private static func add(_ destination: OutcomeBatch.Destination, key: Int, to batch: inout OutcomeBatch) {
        batch.add(destination, of: .init(slot: 0, offset: 0)) { record in
            record.setKey { $0.append(decimal: key) }
            record.setValue { $0.append(decimal: key) }
        }
    }

    @Test func moreThanTheLibraryTakesAtATimeGoesToItsTopics() throws {
        let bench = try Bench(.embedded)
        let writer = try OutcomeWriter(try bench.workerConfiguration(), transactionalID: nil)
        defer { writer.close(timeout: .zero) }
        var batch = OutcomeBatch()
        for number in 0..<3000 {
            Self.add(.results, key: number, to: &batch)
            if number.isMultiple(of: 1000) {
                for destination in [.deadLetters, .own(1), .parents(0), .held(0), .handles] as [OutcomeBatch.Destination] {
                    Self.add(destination, key: number, to: &batch)
                }
            }
        }
        try writer.findTopics(for: batch, turn: 0)
        try writer.write(batch, timestamp: bench.clock.millisecondsSince1970, turn: 0)
        try writer.confirm()
        #expect(try bench.readAll(bench.topics.results).count == 3000)
        let topics = bench.topics
        for topic in [topics.deadLetters, topics.requestsOwn, topics.parents, topics.held, topics.handles] {
            #expect(try bench.readAll(topic).count == 3, "\(topic)")
        }
    }

    /// What brokers do when they are asked how many partitions the topic of parents has.
    enum Brokers: CaseIterable { case answer, lackTheTopic, areAway }

    @Test(arguments: Brokers.allCases) func aRecordOfParentsIsLeftOutOnlyForAPartitionThatIsNotThere(_ brokers: Brokers) throws {
        let bench = try Bench(.embedded)
        let writer = try OutcomeWriter(try bench.workerConfiguration(), transactionalID: nil)
        defer { writer.close(timeout: .zero) }
        var batch = OutcomeBatch()
        Self.add(.parents(writer.parentPartitions), key: 1, to: &batch)
        switch brokers {
        case .answer:
            try writer.findTopics(for: batch, turn: 0)
            return
        case .lackTheTopic: bench.cluster?.setTopic(bench.topics.parents, isMissing: true)
        case .areAway: bench.cluster?.setBroker(1, isUp: false)
        }
        #expect(throws: KafkaError.self) { try writer.findTopics(for: batch, turn: 0) }
    }
}
