import Foundation
import Kafka
import TestSupport
import Testing

@testable import ResultFeed

/// The parts that the embedded cluster does not play: transactions, times, and topics that are made again.
@Suite(.needsKafka, .serialized) struct RealTopicTests {
    private let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
    private let topic = NewTopic(name: "feed-tests-\(UUID().uuidString)", partitionCount: 1, replicationFactor: 1)

    private func make() throws {
        let admin = try TopicAdmin(kafka)
        try #require(eventually { try admin.createTopics([topic], timeout: farDeadline) == [.created] })
        try #require(
            eventually {
                try admin.describe(topics: [topic.name], timeout: farDeadline).topics == [.existing(partitionCount: 1)]
            })
    }

    private func delete() throws {
        let admin = try TopicAdmin(kafka)
        #expect(try admin.deleteTopics([topic.name], timeout: farDeadline).isEmpty)
        try #require(eventually { try admin.describe(topics: [topic.name], timeout: farDeadline).topics == [.missing] })
    }

    private func openFeed(
        _ change: (inout ResultFeed.Configuration) -> Void = { _ in }, onNews: @escaping @Sendable () -> Void = {}
    ) -> ResultFeed {
        var configuration = ResultFeed.Configuration(kafka, topic: topic.name)
        configuration.patience = farDeadline
        change(&configuration)
        return ResultFeed(configuration, onNews: onNews)
    }

    private func write(_ ids: Range<Int>, by producer: Producer, to partition: Int32 = 0, at time: Int64? = nil) throws {
        let handle = try producer.topic(named: topic.name)
        for id in ids {
            try producer.produce(
                to: handle, partition: partition, key: Array("\(id)".utf8).span, value: makeJSON("\(id)").span,
                timestamp: time.map { $0 + Int64(id) * 1000 })
        }
        try producer.flush(timeout: farDeadline)
    }

    /// The last offsets hold aborted records and marks, which no one reads.
    @Test(arguments: [0, 2000] as [Int64]) func theEndIsReachedBehindAbortedRecords(earlierCount: Int64) throws {
        try make()
        let producer = try Producer(kafka, transactionalID: topic.name, transactionTimeout: farDeadline)
        defer { producer.close(timeout: .seconds(5)) }
        try producer.initTransactions(timeout: farDeadline)
        func writeAll(from id: Int) throws {
            for isCommitted in [true, false] {
                try producer.beginTransaction()
                try write(id..<id + 3, by: producer)
                if isCommitted {
                    try producer.commitTransaction(timeout: farDeadline)
                } else {
                    try producer.abortTransaction(timeout: farDeadline)
                }
            }
        }
        try writeAll(from: 0)
        let feed = openFeed { $0.earlierCount = earlierCount }
        defer { feed.close() }
        let (records, places) = try feed.readToEnd(from: FeedPlaces())
        #expect(records.map(\.key) == ["0", "1", "2"] && places.offsets == [0: 8])
        try #require(eventually { feed.end?.offsets == [0: 8] })
        try writeAll(from: 3)
        #expect(try feed.readAll(3, from: places).map(\.key) == ["3", "4", "5"])
        #expect(eventually { feed.end?.offsets == [0: 16] })
        let reading = try feed.readOnce(from: FeedPlaces([0: 13])).get()
        #expect(reading.records.isEmpty && reading.isAtEnd && reading.places.offsets == [0: 16])
    }

    /// Who stands before the mark of a transaction goes on only with news.
    @Test func offsetsThatNoOneReadsAreNews() throws {
        try make()
        let ends = Box<[Int64]>([])
        let feed = Box<ResultFeed?>(nil)
        let made = openFeed(onNews: {
            guard let end = feed.withLock({ $0 })?.end?.offsets[0] else { return }
            ends.withLock { $0.append(end) }
        })
        feed.withLock { $0 = made }
        defer { made.close() }
        try #require(eventually { made.end?.offsets == [0: 0] })
        let producer = try Producer(kafka, transactionalID: topic.name, transactionTimeout: farDeadline)
        defer { producer.close(timeout: .seconds(5)) }
        try producer.initTransactions(timeout: farDeadline)
        try producer.beginTransaction()
        try write(0..<3, by: producer)
        try producer.abortTransaction(timeout: farDeadline)
        #expect(eventually { ends.withLock { $0.last } == 4 })
    }

    @Test func thePlaceOfATimeIsThatOfItsFirstRecord() throws {
        try make()
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        let start = (Int64(Date().timeIntervalSince1970) - 60) * 1000
        try write(0..<5, by: producer, at: start)
        let feed = openFeed()
        defer { feed.close() }
        for (time, offset) in [(start, 0), (start + 1999, 1), (start + 4000, 4), (start + 5000, 5), (-7, 0)] as [(Int64, Int64)] {
            #expect(try feed.findPlaces(since: time).offsets == [0: offset])
        }
    }

    /// A reader finds a new partition by its name at once, and without it when the feed has looked for partitions.
    @Test(arguments: [false, true]) func aPartitionThatWasAddedIsReadFromItsBeginning(onlyNamed: Bool) throws {
        try make()
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        try write(0..<2, by: producer)
        let feed = openFeed { $0.refreshInterval = onlyNamed ? farDeadline : .milliseconds(200) }
        defer { feed.close() }
        #expect(try feed.readAll(2, from: FeedPlaces()).map(\.key) == ["0", "1"])
        try TopicAdmin(kafka).grow(topic: topic.name, to: 2, timeout: farDeadline)
        // A producer that knows the partition may be some seconds away.
        let other = try Producer(kafka, transactionalID: nil)
        defer { other.close(timeout: .seconds(5)) }
        try #require(
            eventually {
                let handle = try #require(try other.warmUp(topics: [topic.name], timeout: farDeadline).first)
                return try other.partitionCount(of: handle, timeout: farDeadline) == 2
            })
        try write(2..<5, by: other, to: 1)
        let places = onlyNamed ? FeedPlaces([0: 2, 1: 0]) : FeedPlaces([0: 2])
        #expect(try feed.readAll(3, from: places, onlyNamed: onlyNamed).map(\.key) == ["2", "3", "4"])
        // Whoever reads it from Kafka has it followed at once.
        #expect(eventually { feed.end?.offsets == [0: 2, 1: 3] })
    }

    @Test func aPlaceInATopicThatWasMadeAgainIsGoneAndReadingGoesOnAtItsBeginning() throws {
        try make()
        let feed = openFeed()
        defer { feed.close() }
        do {
            let producer = try Producer(kafka, transactionalID: nil)
            defer { producer.close(timeout: .seconds(5)) }
            try write(0..<5, by: producer)
        }
        let records = try feed.readAll(5, from: FeedPlaces())
        #expect(records.map(\.key) == ["0", "1", "2", "3", "4"])
        try delete()
        try make()
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        try write(7..<9, by: producer)
        var first: FeedPlaces?
        let isGone = try eventually {
            if case .failure(.gone(let places)) = try feed.readOnce(from: FeedPlaces([0: 5])) { first = places }
            return first != nil
        }
        try #require(isGone)
        #expect(try feed.readAll(2, from: #require(first)).map(\.key) == ["7", "8"])
    }
}
