import Kafka
import TestSupport
import Testing

@testable import ResultFeed

/// A feed of a topic on the library's embedded cluster.
@Suite(.tags(.threads, .c), .serialized) struct ResultFeedTests {
    /// The keys of each partition, in the order of reading.
    private static func byPartition(_ records: [FeedRecord]) -> [Int32: [String]] {
        Dictionary(grouping: records, by: \.partition).mapValues { $0.map(\.key) }
    }

    private static func byPartition(_ ids: [String]) -> [Int32: [String]] {
        Dictionary(grouping: ids) { Int32($0.prefix { $0 != "-" }) ?? -1 }
    }

    @Test func whatIsWrittenComesFromMemoryWithNews() throws {
        let stage = try Stage()
        defer { stage.close() }
        try #require(eventually { stage.feed.end != nil })
        let end = try #require(stage.feed.end)
        #expect(end.offsets == [0: 0, 1: 0, 2: 0])
        let before = stage.news.withLock { $0 }
        let ids = try stage.write(300)
        #expect(eventually { stage.news.withLock { $0 } > before })
        let records = try stage.feed.readAll(300, from: end, room: 7)
        #expect(Self.byPartition(records) == Self.byPartition(ids))
        #expect(records.allSatisfy { $0.requestID == $0.key && $0.resultID == "r-\($0.key)" && $0.kind == "final" })
        #expect(eventually { stage.feed.end?.offsets == [0: 100, 1: 100, 2: 100] })
        #expect(stage.feed.problem == nil)
    }

    /// From memory alone, from Kafka alone, and from one after the other.
    @Test(arguments: [(Int64(9000), 64 << 20), (0, 64 << 20), (300, 64 << 20), (9000, 40_000), (0, 0)] as [(Int64, Int)])
    func allIsReadOnceAndInOrderWhereverItLies(earlierCount: Int64, byteLimit: Int) throws {
        let stage = try Stage {
            $0.earlierCount = earlierCount
            $0.byteLimit = byteLimit
            $0.sliceByteCount = 50_000
        }
        defer { stage.close() }
        let ids = try stage.write(1500)
        #expect(try Self.byPartition(stage.feed.readAll(1500, from: FeedPlaces(), room: 64)) == Self.byPartition(ids))
        let more = try stage.write(600)
        let all = try stage.feed.readAll(2100, from: FeedPlaces(), room: 1000)
        #expect(Self.byPartition(all) == Self.byPartition(ids).merging(Self.byPartition(more)) { $0 + $1 })
    }

    @Test func partitionsThatAreNotNamedAreNotRead() throws {
        let stage = try Stage { $0.earlierCount = 0 }
        defer { stage.close() }
        let ids = try stage.write(30)
        let records = try stage.feed.readAll(12, from: FeedPlaces([0: 3, 2: 5]), onlyNamed: true)
        let own = Self.byPartition(ids)
        #expect(Self.byPartition(records) == [0: Array((own[0] ?? [])[3...]), 2: Array((own[2] ?? [])[5...])])
        let reading = try stage.feed.readOnce(from: FeedPlaces([0: 10, 2: 10]), onlyNamed: true).get()
        #expect(reading.places == FeedPlaces([0: 10, 2: 10]) && reading.records.isEmpty)
    }

    @Test func aThousandWhoLieBackAlikeEachReadEverything() throws {
        let stage = try Stage {
            $0.earlierCount = 0
            $0.sliceByteCount = 20_000
        }
        defer { stage.close() }
        let ids = try stage.write(150)
        let readers = (0..<1000).map { _ in Reader(stage.feed, count: 150) }
        for reader in readers { reader.start() }
        for reader in readers { try #require(eventually { reader.keys.count >= 150 }) }
        let expected = Self.byPartition(ids)
        #expect(readers.allSatisfy { Self.byPartition($0.keys) == expected })
    }

    /// The embedded cluster keeps 5 MiB of a partition.
    @Test func aPlaceThatRetentionHasPassedIsGoneAndTheFirstThatIsLeftIsRead() throws {
        let stage = try Stage(partitions: 1)
        defer { stage.close() }
        try stage.write(40, partitions: 1, padding: 400_000)
        guard case .failure(.gone(let first)) = try stage.feed.readOnce(from: FeedPlaces([0: 0])) else {
            Issue.record("the place is still there")
            return
        }
        let start = try #require(first.offsets[0])
        #expect(start > 0 && start < 40)
        #expect(try stage.feed.readToEnd(from: first).records.map(\.offset) == Array(start..<40))
        #expect(try stage.feed.readToEnd(from: FeedPlaces()).records.map(\.offset) == Array(start..<40))
    }

    @Test(arguments: [[0: 0, 1: 0, 2: 0, 3: 0], [0: 11, 1: 0, 2: 0]] as [[Int32: Int64]])
    func aPlaceOfAnotherTopicIsGone(offsets: [Int32: Int64]) throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.write(30)
        guard case .failure(.gone(let first)) = try stage.feed.readOnce(from: FeedPlaces(offsets)) else {
            Issue.record("the place is taken for one of this topic")
            return
        }
        #expect(first == FeedPlaces([0: 0, 1: 0, 2: 0]))
    }

    @Test func thePlaceOfATimeIsTheFirstOrTheEnd() throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.write(30)
        #expect(try stage.feed.findPlaces(since: 0).offsets == [0: 0, 1: 0, 2: 0])
        #expect(try stage.feed.findPlaces(since: .max).offsets == [0: 10, 1: 10, 2: 10])
    }

    @Test func recordsThatAreNoResultsArePassedOver() throws {
        let stage = try Stage(partitions: 1) { $0.earlierCount = 0 }
        defer { stage.close() }
        for value in ["", "{}", "[", #"{"request_id":7}"#] {
            try stage.producer.produce(to: stage.topic, partition: 0, key: Array("k".utf8).span, value: Array(value.utf8).span)
        }
        try stage.producer.produce(to: stage.topic, partition: 0, key: Array("k".utf8).span, value: nil)
        try stage.write(1, partitions: 1)
        try stage.producer.produce(to: stage.topic, partition: 0, key: nil, value: makeJSON("x").span)
        try stage.producer.flush(timeout: farDeadline)
        let (records, places) = try stage.feed.readToEnd(from: FeedPlaces())
        #expect(records.map(\.offset) == [5] && places.offsets == [0: 7])
    }

    @Test func aBrokerThatIsAwayMakesKafkaUnreachableUntilItIsBack() throws {
        let stage = try Stage { $0.patience = .milliseconds(500) }
        defer { stage.close() }
        try stage.write(3)
        stage.cluster.setBroker(1, isUp: false)
        guard case .failure(.unreachable) = try stage.feed.readOnce(from: FeedPlaces()) else {
            Issue.record("something was read")
            return
        }
        #expect(stage.feed.problem != nil)
        stage.cluster.setBroker(1, isUp: true)
        #expect(eventually { (try? stage.feed.readOnce(from: FeedPlaces()).get())?.records.count == 3 })
    }

    @Test func whoLiesBackWhenTooManyDoIsRefused() throws {
        let stage = try Stage { $0.maximumReaderCount = 0 }
        defer { stage.close() }
        try #require(eventually { stage.feed.end != nil })
        try stage.write(3)
        #expect(try stage.feed.readAll(3, from: FeedPlaces()).count == 3)
        guard case .failure(.full) = try stage.feed.readOnce(from: FeedPlaces([0: 99])) else {
            Issue.record("the reader was let in")
            return
        }
    }

    @Test func whoWaitsNoMoreIsLetGoBeforeKafkaIsAsked() throws {
        let stage = try Stage()
        defer { stage.close() }
        stage.cluster.setBroker(1, isUp: false)
        let (reading, places) = (Answer<FeedReading>(), Answer<FeedPlaces>())
        stage.feed.read(
            from: FeedPlaces(), room: FeedRoom(records: 1, bytes: 1), while: { false }, where: { _ in true }, then: reading.note)
        stage.feed.findPlaces(since: 1, while: { false }, then: places.note)
        guard case .failure(.full) = try reading.wait(), case .failure(.full) = try places.wait() else {
            Issue.record("their turns were kept")
            return
        }
    }

    @Test func manyTimesAreEachAnsweredInTheirTurns() throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.write(30)
        let answers = (1...40).map { _ in Answer<FeedPlaces>() }
        for (second, answer) in answers.enumerated() { stage.feed.findPlaces(since: Int64(second) * 1000, then: answer.note) }
        for answer in answers { _ = try answer.wait().get() }
        #expect(answers.allSatisfy { $0.count == 1 })
    }

    @Test func aClosedFeedAnswersEachReaderOnce() throws {
        let stage = try Stage { $0.patience = .milliseconds(500) }
        stage.cluster.setBroker(1, isUp: false)
        let answers = (0..<20).map { _ in Answer<FeedReading>() }
        for answer in answers {
            stage.feed.read(from: FeedPlaces(), room: FeedRoom(records: 1, bytes: 1), where: { _ in true }, then: answer.note)
        }
        stage.close()
        for answer in answers {
            guard case .failure = try answer.wait() else {
                Issue.record("something was read")
                return
            }
        }
        #expect(answers.allSatisfy { $0.count == 1 })
        guard case .failure(.closed) = try stage.feed.readOnce(from: FeedPlaces()) else {
            Issue.record("the feed is open")
            return
        }
        #expect(stage.feed.end == nil)
    }

    @Test func aFeedWithoutReadersReadsNothing() throws {
        let stage = try Stage()
        defer { stage.close() }
        try stage.write(3)
        #expect(stage.news.withLock { $0 } == 0 && stage.feed.problem == nil)
    }
}

/// A reader that goes on by itself whenever it is answered.
private final class Reader: Sendable {
    private let feed: ResultFeed
    private let count: Int
    private let records = Box<[FeedRecord]>([])

    init(_ feed: ResultFeed, count: Int) { (self.feed, self.count) = (feed, count) }

    var keys: [FeedRecord] { records.withLock { $0 } }

    func start(at places: FeedPlaces = FeedPlaces()) {
        feed.read(from: places, room: FeedRoom(records: 40, bytes: 1 << 20), where: { _ in true }) { [self] result in
            guard case .success(let reading) = result else { return }
            let left = records.withLock { records in
                records += reading.records
                return count - records.count
            }
            if left > 0, !reading.isAtEnd { start(at: reading.places) }
        }
    }
}
