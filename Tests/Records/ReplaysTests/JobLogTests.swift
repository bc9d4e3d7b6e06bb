import Delivery
import Foundation
import Kafka
import PushModel
import Replay
import ReplayStage
import TestSupport
import Testing

@testable import JobSupport
@testable import Replays

/// What the topic of replays says, and when it is read anew.
@Suite struct JobLogTests {
    private static let place = RecordPlace(topic: "t", partition: 0, offset: 7)
    private static let published = Timestamp(milliseconds: ReplayBroker.now)

    private static func write(_ batch: JobBatch, to broker: ReplayBroker, at time: Int64 = ReplayBroker.now) throws {
        try broker.write(
            String(decoding: batch.json, as: UTF8.self), to: broker.topics.replays, key: batch.key, at: time)
    }

    @Test(
        arguments: [
            (nil, nil), ("r", nil), ("r \u{22}", published), (nil, published),
        ] as [(String?, Timestamp?)])
    func aBatchNamesWhatTellsItsRequestsApart(id: String?, publishedAt: Timestamp?) throws {
        let broker = try ReplayBroker()
        let original = Original(at: Self.place, id: id, publishedAt: publishedAt)
        var batch = JobBatch(jobID: "job", first: 0)
        batch.addReplayed(SendSet([0, 3]), of: original)
        batch.addReplayed(
            .all, of: Original(at: RecordPlace(topic: "t", partition: 1, offset: 7), id: id, publishedAt: publishedAt))
        try Self.write(batch, to: broker)
        let history = try broker.context().jobLog().history
        #expect(history.replayed(original).indices == [0, 3])
        #expect(history.replayed(Original(at: Self.place, id: "other")).isEmpty == (id != nil))
        let later = Original(at: Self.place, publishedAt: Self.published.adding(milliseconds: 1))
        #expect(history.replayed(later).isEmpty == (publishedAt != nil))
        #expect(history.replayed(Original(at: RecordPlace(topic: "t", partition: 1, offset: 7))) == .all)
    }

    /// A plan has read the topic up to an offset. What is written later counts, also where a topic that was made again begins at 0.
    @Test(arguments: [(1, 0, true), (9, 0, false), (9, 1, true), (9, -1, false)] as [(Int64, Int64, Bool)])
    func whatWasRepeatedSinceAPlanCountsAtAnyOffset(start: Int64, late: Int64, isKept: Bool) throws {
        let broker = try ReplayBroker()
        var batch = JobBatch(jobID: "job", first: 0)
        batch.addReplayed(.all, of: Original(at: Self.place))
        for time in [ReplayBroker.now - 9, ReplayBroker.now + late] { try Self.write(batch, to: broker, at: time) }
        var log = JobLog(from: start, endingAt: Self.published)
        try broker.context().readJobs { log.take($0) }
        #expect(log.history.places.isEmpty != isKept && log.end == 2)
    }
}

@Suite(.needsKafka, .serialized) struct JobStatesTests {
    /// Jobs that are written after the topic was made again: fewer, as many, and more.
    @Test(arguments: [["c"], ["c", "d"], ["c", "d", "e"], []]) func aTopicThatWasMadeAgainIsReadAnew(jobs: [String]) throws {
        let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
        var topics = Topics()
        topics.replays = "jobs-tests-\(UUID().uuidString)"
        let admin = try TopicAdmin(kafka)
        let topic = NewTopic(name: topics.replays, partitionCount: 1, replicationFactor: 1)
        func make() throws {
            try #require(eventually { try admin.createTopics([topic], timeout: farDeadline) == [.created] })
            try #require(
                eventually {
                    try admin.describe(topics: [topic.name], timeout: farDeadline).topics == [.existing(partitionCount: 1)]
                })
        }
        func write(_ ids: [String]) throws {
            let producer = try Producer(kafka, transactionalID: nil)
            defer { producer.close(timeout: .zero) }
            let handle = try producer.topic(named: topic.name)
            for id in ids {
                let value = Array(#"{"kind":"job","job_id":"\#(id)","state":"done"}"#.utf8)
                try producer.write(key: Array(id.utf8), value: value, to: handle, partition: 0)
            }
            try producer.flush(timeout: farDeadline)
        }
        try make()
        try write(["a", "b"])
        let states = JobStates(
            JobContext(kafka: kafka, topics: topics, timeout: farDeadline, now: { ReplayBroker.now }, isCancelled: { false }))
        for _ in 0..<2 { #expect(try states.current().jobs.keys.sorted() == ["a", "b"]) }
        try write(["z"])
        #expect(try states.current().jobs.keys.sorted() == ["a", "b", "z"])
        #expect(try admin.deleteTopics([topic.name], timeout: farDeadline).isEmpty)
        #expect(try eventually { try admin.describe(topics: [topic.name], timeout: farDeadline).topics == [.missing] })
        try make()
        try write(jobs)
        #expect(try states.current().jobs.keys.sorted() == jobs)
    }
}
