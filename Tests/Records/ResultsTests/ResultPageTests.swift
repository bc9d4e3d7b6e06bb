import Publishing
import PushModel
import ResultQuery
import SQLite
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// Pages against the list of all results that match, from the index and from pieces of a topic that is an array.
@Suite struct ResultPageTests {
    /// A caller may hand back any numbers as a cursor.
    @Test(arguments: [Int64.max, .min, -1, 0, 1 << 31, 1 << 31 - 1]) func aCursorOfAnyNumbersIsAPlace(number: Int64) throws {
        var topic = MemoryTopic()
        topic.add([
            IndexedRecord(partition: 0, offset: 0, time: 1_795_262_400_000, value: Array(#"{"request_id":"a"}"#.utf8))
        ])
        for partition in [Int32.max, .min, -1, 0] {
            let cursor = ResultCursor(time: number, partition: partition, offset: number)
            let (results, next) = topic.page(.max, ResultFilter(), after: cursor, pieceSize: 1)
            #expect(results.count == (number == .max ? 1 : 0) && next == nil)
        }
    }

    /// A topic in memory. Its offsets begin at 0, and its times are out of order as those of several workers are.
    private struct MemoryTopic {
        var partitions: [[IndexedRecord]] = [[], [], []]

        mutating func add(_ records: [IndexedRecord]) {
            for record in records {
                let partition = Int(record.partition)
                partitions[partition].append(
                    IndexedRecord(
                        partition: record.partition, offset: Int64(partitions[partition].count), time: record.time,
                        value: record.value))
            }
        }

        var records: [IndexedRecord] { partitions.flatMap(\.self) }

        func starts(_ time: Int64) -> [Int64] {
            partitions.map { records in Int64(records.firstIndex { $0.time >= time } ?? records.count) }
        }

        /// All that match, newest first.
        func all(_ filter: ResultFilter) -> [ResultRecord] {
            records.compactMap { Self.result($0, filter) }.sorted { ResultRecord.isOlder($1, than: $0) }
        }

        static func result(_ record: IndexedRecord, _ filter: ResultFilter) -> ResultRecord? {
            var matcher = ResultMatcher(filter)
            guard let value = record.value, matcher.matches(value.span, writtenAt: record.time) else { return nil }
            return ResultRecord(json: value, partition: record.partition, offset: record.offset, timestamp: record.time)
        }

        /// A page as a scan makes it, which runs out of time after so many pieces.
        func page(
            _ limit: Int, _ filter: ResultFilter, after cursor: ResultCursor?, pieceSize: Int64, pieceCount: Int = .max
        ) -> (results: [ResultRecord], next: ResultCursor?) {
            var filter = filter
            if let cursor { filter.add(until: cursor.until) }
            let offsets = zip(starts(filter.since ?? 0), partitions).map { $0..<Int64($1.count) }
            var pieces = BackwardPieces(offsets, since: filter.since, until: min(filter.until ?? .max, 1_795_262_401_000))
            var gathering = PageGathering(limit, after: cursor)
            var left = pieceCount
            while left > 0, !pieces.isDone, !gathering.isFull(since: pieces.reached) {
                guard let piece = pieces.next(atMost: pieceSize, startingAt: starts) else { break }
                for (partition, range) in piece.offsets.enumerated() {
                    for record in partitions[partition][Int(range.lowerBound)..<Int(range.upperBound)] {
                        if let result = Self.result(record, filter) { gathering.take(result) }
                    }
                }
                pieces.finish(piece)
                left -= 1
            }
            return gathering.close(since: pieces.reached, isWhole: pieces.isDone)
        }
    }

    private static func places(_ records: [ResultRecord]) -> [String] { records.map { "\($0.partition):\($0.offset)" } }

    /// Reads page after page, and does something between two.
    private static func walk(
        _ page: (ResultCursor?) throws -> (results: [ResultRecord], next: ResultCursor?), between: () throws -> Void = {}
    ) rethrows -> [ResultRecord] {
        var found: [ResultRecord] = []
        var cursor: ResultCursor?
        // More pages than any walk has.
        for _ in 0..<5000 {
            let (results, next) = try page(cursor)
            found += results
            guard let next else { return found }
            cursor = next
            try between()
        }
        Issue.record("the pages do not end")
        return found
    }

    @Test(arguments: 0..<12) func pagesOfAScanHaveEveryResultOnceAndInOrder(seed: Int) throws {
        var random = RandomResults(seed: seed)
        var topic = MemoryTopic()
        topic.add(random.indexed(300))
        for _ in 0..<10 {
            let filter = try ResultFilter(random.filter(), now: 0)
            let (limit, size) = (1 + random.below(20), Int64(1 + random.below(120)))
            let found = try Self.walk { topic.page(limit, filter, after: $0, pieceSize: size) }
            #expect(Self.places(found) == Self.places(topic.all(filter)), "\(filter), \(limit) a page, pieces of \(size)")
        }
    }

    @Test(arguments: 0..<6) func pagesWhoseTimeRunsOutGoOnWhereTheyEnded(seed: Int) throws {
        var random = RandomResults(seed: seed)
        var topic = MemoryTopic()
        topic.add(random.indexed(300))
        for text in ["", "state:failed", "request:nobody"] {
            let filter = try ResultFilter(text, now: 0)
            let found = try Self.walk { topic.page(50, filter, after: $0, pieceSize: 20, pieceCount: 1) }
            #expect(Self.places(found) == Self.places(topic.all(filter)), "\(text)")
        }
    }

    @Test(arguments: 0..<6) func resultsThatComeWhilePagingMoveNothing(seed: Int) throws {
        var random = RandomResults(seed: seed)
        var topic = MemoryTopic()
        topic.add(random.indexed(200))
        let filter = try ResultFilter("", now: 0)
        let expected = topic.all(filter)
        let found = Self.walk {
            topic.page(7, filter, after: $0, pieceSize: 30)
        } between: {
            topic.add(
                random.indexed(5).map {
                    IndexedRecord(partition: $0.partition, offset: 0, time: $0.time + 1000, value: $0.value)
                })
        }
        #expect(Self.places(found) == Self.places(expected))
    }

    @Test(arguments: 0..<8) func pagesOfAnIndexHaveEveryResultOnceAndInOrder(seed: Int) throws {
        var random = RandomResults(seed: seed)
        let records = random.indexed(200)
        let folder = try TemporaryFolder()
        let index = try ResultIndex(path: folder.path("i.sqlite"), cluster: "c", topic: "t")
        #expect(try index.add(IndexRows(RecordBatch(records))))
        try index.finishFilling()
        for _ in 0..<20 {
            let filter = try ResultFilter(random.filter(), now: 0)
            let limit = 1 + random.below(20)
            let found = try Self.walk { try index.page(limit, matching: filter, after: $0) }
            #expect(Self.places(found) == Self.places(try index.newest(1000, filter).reversed()), "\(filter)")
        }
        #expect(try index.recordCount() == 200)
    }

    @Test func anEmptyPieceOfTimeIsPassedOver() {
        var pieces = BackwardPieces([0..<1000], since: nil, until: 10_000_000_000)
        // All records have one time, far back.
        let piece = pieces.next(atMost: 10) { $0 <= 1000 ? [0] : [1000] }
        #expect(piece?.offsets == [0..<1000])
        if let piece { pieces.finish(piece) }
        #expect(pieces.reached <= 1000 && pieces.unread == [0..<0])
    }

    @Test func aPieceHasNoMoreRecordsThanTheLimit() {
        // One record a millisecond.
        let count: Int64 = 1_000_000_000
        var pieces = BackwardPieces([0..<count], since: nil, until: count)
        var questions = 0
        for _ in 0..<20 {
            let piece = pieces.next(atMost: 200_000) { time in
                questions += 1
                return [min(time, count)]
            }
            guard let piece else { break }
            #expect(piece.count > 0 && piece.count <= 200_000)
            pieces.finish(piece)
        }
        #expect(questions < 20 * 5, "few questions find a piece")
    }

    @Test func anExtentIsJSON() {
        let extent = SearchExtent(
            source: .scan, since: Timestamp(milliseconds: 1000), records: 3, of: 9, isComplete: false)
        #expect(
            String(decoding: extent.json, as: UTF8.self)
                == #"{"by":"scan","since":"1970-01-01T00:00:01.000Z","records":3,"of":9,"complete":false}"#)
    }
}
