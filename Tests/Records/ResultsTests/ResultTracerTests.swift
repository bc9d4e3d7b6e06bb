import Delivery
import Foundation
import GroupPositions
import Kafka
import Publishing
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// The search of one request's final result, on a real broker: the embedded one finds no offsets for times.
@Suite(.needsKafka, .serialized)
struct ResultTracerTests {
    private static let hour: Int64 = 3_600_000

    /// What a search ends with, in a word.
    private static func word(_ answer: ResultTracer.Answer) -> String {
        switch answer {
        case .final(let result, _, _): result.state
        case .open(nil): "open"
        case .open: "open, repeated"
        case .repetition: "repetition"
        case .unknown: "unknown"
        }
    }

    @Test func aResultIsFoundByTheTimeOfItsRecordWhereverItWasWrittenSince() throws {
        let stage = try TracerStage()
        try stage.fill(600)
        try stage.write("sent", of: "soon", at: -Self.hour + 10)
        try stage.write("failed", of: "late", at: -1)
        // By a clock that is ahead of those of workers by ten minutes.
        try stage.write("sent", of: "skewed", at: -Self.hour - 600_000)
        // Of others, under the same id.
        try stage.write("sent", of: "others", at: -Self.hour + 10, source: "bank")
        try stage.commitAll()
        for (id, word) in [
            ("soon", "sent"), ("late", "failed"), ("skewed", "sent"), ("others", "open"), ("none", "open"),
        ] {
            #expect(Self.word(try stage.trace(id, writtenAt: -Self.hour)) == word, "\(id)")
        }
    }

    @Test func aResultFromBeforeTheTopicGotMorePartitionsIsFound() throws {
        let stage = try TracerStage()
        try stage.fill(600, in: 2)
        let ids = (0..<20).map { "m-\($0)" }
        for id in ids { try stage.write("failed", of: id, at: -1000, in: 2) }
        try stage.commitAll()
        for id in ids { #expect(Self.word(try stage.trace(id, writtenAt: -Self.hour)) == "failed", "\(id)") }
    }

    @Test func whatTheGroupHasNotFinishedHasNoResultAndNoneIsRead() throws {
        let stage = try TracerStage()
        try stage.fill(10)
        // It cannot be: a result and the position are one transaction. It shows that nothing is read.
        try stage.write("sent", of: "waiting", at: -1)
        #expect(Self.word(try stage.trace("waiting", writtenAt: -Self.hour)) == "open")
        try stage.commitAll()
        #expect(Self.word(try stage.trace("waiting", writtenAt: -Self.hour)) == "sent")
    }

    @Test func ofARepetitionTheFirstResultIsFoundHoursBefore() throws {
        let stage = try TracerStage()
        try stage.write("failed", of: "a", at: -30 * Self.hour)
        try stage.fill(600)
        for id in ["a", "b"] { try stage.write("duplicate", of: id, at: -5) }
        try stage.commitAll()
        for isKnown in [true, false] {
            #expect(Self.word(try stage.trace("a", writtenAt: -10, isRepetition: isKnown)) == "failed")
            #expect(Self.word(try stage.trace("b", writtenAt: -10, isRepetition: isKnown)) == "open, repeated")
        }
    }

    @Test func whatIsNotFoundInTimeIsUnknown() throws {
        let stage = try TracerStage()
        try stage.fill(600)
        try stage.commitAll()
        #expect(Self.word(try stage.trace("none", writtenAt: -Self.hour, within: .zero)) == "unknown")
        #expect(Self.word(try stage.trace("none", writtenAt: -Self.hour)) == "open")
    }
}

/// A topic of requests with one record, and one of results.
private final class TracerStage {
    static let partitionCount: Int32 = 3

    private let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    private let topics: Topics
    private let group: String
    private let producer: Producer
    private let now = Int64(Date().timeIntervalSince1970 * 1000)
    private let admin: TopicAdmin

    init() throws {
        group = "tracer-tests-\(UUID().uuidString)"
        let topics = Topics(requests: "\(group).requests")
        self.topics = topics
        let admin = try TopicAdmin(kafka)
        self.admin = admin
        _ = try admin.createTopics(
            [
                NewTopic(name: topics.requests, partitionCount: 1, replicationFactor: 1),
                NewTopic(name: topics.results, partitionCount: Int(Self.partitionCount), replicationFactor: 1),
            ], timeout: farDeadline)
        let names = [topics.requests, topics.results]
        try #require(
            try eventually { try admin.describe(topics: names, timeout: farDeadline).topics.allSatisfy { $0 != .missing } })
        producer = try Producer(kafka, transactionalID: nil)
        try producer.produce(
            to: try producer.topic(named: topics.requests), key: "x".utf8Span.span, value: "{}".utf8Span.span)
        try producer.flush(timeout: farDeadline)
    }

    /// Writes results of other requests over the last two hours, while the topic had so many partitions.
    func fill(_ count: Int, in partitionCount: Int32 = partitionCount) throws {
        for number in 0..<count {
            try write("sent", of: "r-\(number)", at: -7_200_000 + Int64(number) * 7_200_000 / Int64(count), in: partitionCount)
        }
    }

    /// Writes a result, so many milliseconds from now.
    func write(
        _ state: String, of id: String, at time: Int64, source: String = "shop", in partitionCount: Int32 = partitionCount
    ) throws {
        let error =
            state == "duplicate"
            ? #","error":{"code":"duplicate","message":"/id: The request at offset 7 has the same source and id."}"# : ""
        let json = #"{"request_id":"\#(id)","kind":"final","state":"\#(state)","source":"\#(source)"\#(error)}"#
        try producer.produce(
            to: try producer.topic(named: topics.results),
            partition: Producer.partition(ofKey: id.utf8Span.span, of: partitionCount), key: id.utf8Span.span,
            value: json.utf8Span.span, timestamp: now + time)
        // The searches read what is committed.
        try producer.flush(timeout: farDeadline)
    }

    /// Has the group finish the record of requests.
    func commitAll() throws {
        let consumer = try Consumer(kafka, groupID: group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: farDeadline) }
        try consumer.group.commit([OffsetCommit(TopicPartition(topic: topics.requests, partition: 0), offset: 1)])
    }

    func trace(
        _ id: String, writtenAt time: Int64, isRepetition: Bool = false, within limit: Duration = farDeadline
    ) throws -> ResultTracer.Answer {
        let context = JobContext(kafka: kafka, topics: topics, timeout: farDeadline, now: { [now] in now })
        let terms = GroupTerms(kafka: kafka, group: group, topics: topics, start: .safe)
        let tracer = try ResultTracer(context, terms: terms, keeper: nil)
        let request = TracedRequest(
            id: id, place: (TopicPartition(topic: topics.requests, partition: 0), 0), writtenAt: now + time,
            isRepetition: isRepetition, isOwn: { $0.source == "shop" })
        return try tracer.trace(request, until: Deadline(after: limit))
    }
}
