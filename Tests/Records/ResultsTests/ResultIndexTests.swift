import Foundation
import Publishing
import PushModel
import ResultQuery
import SQLite
import TestSupport
import Testing

@testable import JobSupport
@testable import Results

/// The index against the same predicates over the same records, without Kafka.
@Suite struct ResultIndexTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(cluster: String = "c", topic: String = "t") throws -> ResultIndex {
        try ResultIndex(path: folder.path("i.sqlite"), cluster: cluster, topic: topic)
    }

    /// What a reading of the whole topic finds.
    private struct Reading {
        let records: [IndexedRecord]

        func newest(_ limit: Int, _ filter: ResultFilter) -> [ResultRecord] {
            var matcher = ResultMatcher(filter)
            let found = records.compactMap { record -> ResultRecord? in
                guard let value = record.value, matcher.matches(value.span, writtenAt: record.time) else { return nil }
                return ResultRecord(
                    json: value, partition: record.partition, offset: record.offset, timestamp: record.time)
            }
            return found.sorted(by: ResultRecord.isOlder).suffix(limit)
        }

        func failures(_ filter: ResultFilter) -> (tally: FailureTally, count: Int) {
            var matcher = ResultMatcher(filter)
            var tally = FailureTally()
            for record in records {
                guard let value = record.value, matcher.matches(value.span, writtenAt: record.time) else { continue }
                tally.add(matcher.document, writtenAt: record.time)
            }
            return (tally, records.count { filter.covers($0.time) })
        }

        func life(of id: String, _ filter: ResultFilter) -> RequestLife {
            var life = RequestLife(id: id)
            for record in records where filter.covers(record.time) {
                guard let value = record.value else { continue }
                life.take(value.span, partition: record.partition, offset: record.offset, timestamp: record.time)
            }
            return life
        }
    }

    private func fill(_ index: ResultIndex, _ records: [IndexedRecord], by batch: Int) throws {
        for start in stride(from: 0, to: records.count, by: batch) {
            #expect(try index.add(IndexRows(RecordBatch(records[start..<min(start + batch, records.count)]))))
        }
        try index.finishFilling()
    }

    /// A filled index of which a statement has changed something.
    private func index(of records: [IndexedRecord], changedBy change: String) throws -> ResultIndex {
        let index = try open()
        try fill(index, records, by: records.count)
        try index.database.execute(change)
        return index
    }

    private static func places(_ records: [ResultRecord]) -> [String] {
        records.map { "\($0.partition):\($0.offset) \(String(decoding: $0.line, as: UTF8.self))" }
    }

    @Test(arguments: 0..<8) func everyAnswerIsThatOfAReading(seed: Int) throws {
        var random = RandomResults(seed: seed)
        let reading = Reading(records: random.indexed(160))
        let index = try open()
        try fill(index, reading.records, by: 1 + random.below(100))
        var matchCounts: [Int] = []
        for _ in 0..<40 {
            let text = random.filter()
            let filter = try ResultFilter(text, now: 0)
            let limit = 1 + random.below(30)
            let expected = reading.newest(limit, filter)
            let found = try index.ask { () throws(SQLiteError) in try index.newest(limit, filter) }
            #expect(Self.places(found ?? []) == Self.places(expected), "\(text)")
            let failures = try #require(try index.ask { () throws(SQLiteError) in try index.failures(filter) })
            let read = reading.failures(filter)
            #expect(failures.tally.groups == read.tally.groups, "\(text)")
            #expect(failures.tally.count == read.tally.count, "\(text)")
            #expect(failures.count == read.count, "\(text)")
            matchCounts.append(failures.tally.count)
        }
        #expect(matchCounts.count { $0 > 0 && $0 < 130 } > 12, "too few filters match some and not all")
        for id in ["a", "b", "c", "é", "e\u{301}", "a\u{0}", "nobody"] {
            let filter = try ResultFilter(random.below(2) == 0 ? "" : "since:2026-11-21T12:00:00.020Z", now: 0)
            let expected = reading.life(of: id, filter)
            let found = try #require(try index.ask { () throws(SQLiteError) in try index.life(RequestLife(id: id), in: filter) })
            #expect(Self.places(found.own) == Self.places(expected.own), "\(id)")
            #expect(Self.places(found.replays) == Self.places(expected.replays), "\(id)")
        }
    }

    @Test(arguments: 0..<6) func twoWhoFillItAtOnceLeaveNoGapAndNoDouble(seed: Int) throws {
        var random = RandomResults(seed: seed)
        let records = random.indexed(200)
        let indices = [try open(), try open()]
        var positions = [0, 0]
        while let late = positions.firstIndex(where: { $0 < records.count }) {
            let turn = positions[1 - late] < records.count ? random.below(2) : late
            let end = min(records.count, positions[turn] + 1 + random.below(40))
            #expect(try indices[turn].add(IndexRows(RecordBatch(records[positions[turn]..<end]))))
            positions[turn] = end
        }
        try indices[0].finishFilling()
        let all = try ResultFilter("", now: 0)
        let expected = Reading(records: records).newest(1000, all)
        for index in indices {
            #expect(try index.ask { () throws(SQLiteError) in Self.places(try index.newest(1000, all)) } == Self.places(expected))
            #expect(try index.ask { () throws(SQLiteError) in try index.failures(all).count } == 200)
        }
    }

    @Test func whatRetentionRemovedIsRemoved() throws {
        var random = RandomResults(seed: 1)
        let records = random.indexed(300)
        let index = try open()
        try fill(index, records, by: 50)
        let lows: [Int64] = [40, 1000, 0]
        #expect(try index.removeRecords(below: lows))
        let kept = Reading(records: records.filter { $0.offset >= lows[Int($0.partition)] })
        #expect(kept.records.count < 250 && kept.records.count > 50)
        let all = try ResultFilter("", now: 0)
        #expect(Self.places(try index.newest(1000, all)) == Self.places(kept.newest(1000, all)))
        #expect(try index.failures(all).count == kept.records.count)
        #expect(try index.database.integer("SELECT count(*) FROM pack WHERE topic_partition = 1") == 0)
        #expect(try index.newestRecord(of: 1) == nil)
        #expect(try index.newestRecord(of: 2) == records.last { $0.partition == 2 })
    }

    @Test func anIndexIsKeptAndFoundAgain() throws {
        var random = RandomResults(seed: 2)
        let records = random.indexed(50)
        try fill(try open(), records, by: 50)
        let again = try open()
        #expect(again.flaw == nil)
        #expect(try again.failures(try ResultFilter("", now: 0)).count == 50)
        #expect(try again.newestRecord(of: 0) == records.last { $0.partition == 0 })
        #expect(try again.partitionCount() == 3)
    }

    @Test(arguments: ["PRAGMA user_version = 99", "PRAGMA application_id = 7", "UPDATE source SET cluster = X'00'"])
    func anIndexOfSomethingElseIsMadeAnew(change: String) throws {
        var random = RandomResults(seed: 3)
        let old = try index(of: random.indexed(50), changedBy: change)
        let new = try open()
        #expect(new.flaw != nil)
        try new.finishFilling()
        #expect(try new.failures(try ResultFilter("", now: 0)).count == 0)
        // Whoever has the old one open finds out before it adds or answers anything.
        #expect(try old.add(IndexRows(RecordBatch(random.indexed(1)))) == false)
        #expect(try old.ask { () throws(SQLiteError) in 1 } == nil)
        #expect(try open().flaw == nil)
    }

    @Test(arguments: ["UPDATE pack SET content = X'F0'", "DELETE FROM pack", "UPDATE result SET length = length + 1000000"])
    func recordsThatCannotBeUnpackedAreDamage(change: String) throws {
        var random = RandomResults(seed: 4)
        let index = try index(of: random.indexed(50), changedBy: change)
        let failure = #expect(throws: SQLiteError.self) { try index.newest(5, ResultFilter()) }
        #expect(failure?.isDamage == true)
    }

    @Test func recordsOfManyPacksAreFoundAgain() throws {
        let note = String(repeating: "x", count: 200)
        let records = (0..<3000).map { (number: Int) -> IndexedRecord in
            let value = number % 10 == 9 ? nil : Array(#"{"request_id":"r\#(number)","note":"\#(note)"}"#.utf8)
            return IndexedRecord(partition: Int32(number % 3), offset: Int64(number / 3), time: Int64(number), value: value)
        }
        let index = try open()
        try fill(index, records, by: 1700)
        #expect(try index.database.integer("SELECT count(*) FROM pack") ?? 0 > 6)
        let all = ResultFilter()
        #expect(Self.places(try index.newest(5000, all)) == Self.places(Reading(records: records).newest(5000, all)))
    }

    @Test func aPageThatIsInterruptedHasWhatWasFoundAndGoesOnThere() throws {
        let records = (0..<3000).map {
            IndexedRecord(partition: 0, offset: Int64($0), time: Int64($0), value: Array(#"{"request_id":"r\#($0)"}"#.utf8))
        }
        let index = try open()
        try fill(index, records, by: 1000)
        let all = Self.places(try index.page(3000, matching: ResultFilter(), after: nil).results)
        let nobody = try ResultFilter("request:nobody*", now: 0)
        #expect(try index.page(10, matching: nobody, after: nil).results.isEmpty)
        index.database.interrupt { true }
        let cut = try index.page(2000, matching: ResultFilter(), after: nil)
        #expect(!cut.results.isEmpty && cut.results.count < 2000 && cut.next != nil)
        #expect { try index.page(10, matching: nobody, after: nil) } throws: { ($0 as? SQLiteError)?.isInterruption == true }
        index.database.interrupt { false }
        let rest = try index.page(3000, matching: ResultFilter(), after: cut.next)
        #expect(Self.places(cut.results) + Self.places(rest.results) == all && rest.next == nil)
    }

    @Test func theFirstSortingTellsItsSteps() throws {
        var random = RandomResults(seed: 5)
        let index = try open()
        #expect(try index.add(IndexRows(RecordBatch(random.indexed(50)))))
        for expected in [(0...4).map { ReadingProgress.sorting(done: $0, of: 4) }, []] {
            var steps: [ReadingProgress] = []
            try index.finishFilling { steps.append($0) }
            #expect(steps == expected)
        }
    }

    /// Batches are made at once in rooms that were used before, and each becomes what it becomes alone.
    @Test func rowsOfManyBatchesComeInOrder() throws {
        var random = RandomResults(seed: 6)
        let records = random.indexed(900)
        var (making, pending) = (IndexRowMaking(), RecordBatch())
        var made: [IndexRows] = []
        for start in stride(from: 0, to: records.count, by: 60) {
            for record in records[start..<start + 60] { pending.append(record) }
            if making.isFull, let rows = making.takeFirst() { made.append(rows) }
            making.begin(&pending)
            #expect(pending.isEmpty && pending.text.count == 0)
        }
        while let rows = making.takeFirst() { made.append(rows) }
        #expect(making.isEmpty && made.count == 15)
        let index = try open()
        for rows in made { #expect(try index.add(rows)) }
        try index.finishFilling()
        let all = ResultFilter()
        #expect(Self.places(try index.newest(1000, all)) == Self.places(Reading(records: records).newest(1000, all)))
        #expect(try index.recordCount() == 900)
    }

    @Test func aRareGiantLeavesNoRoom() {
        var batch = RecordBatch()
        batch.append(IndexedRecord(partition: 0, offset: 0, time: 0, value: [UInt8](repeating: 0, count: 40 << 20)))
        #expect(RecordBatch(reusing: batch).text.room.isEmpty)
        batch = RecordBatch(willBeFull: true)
        let room = batch.text.room.count
        batch.append(IndexedRecord(partition: 0, offset: 0, time: 0, value: [1, 2]))
        let again = RecordBatch(reusing: batch)
        #expect(again.isEmpty && again.text.count == 0 && again.text.room.count == room)
    }

    @Test func anotherTopicHasAnotherIndex() throws {
        #expect(try open().flaw == nil)
        #expect(try open(topic: "u").flaw != nil)
        #expect(try open(cluster: "d", topic: "u").flaw != nil)
        #expect(try open(cluster: "d", topic: "u").flaw == nil)
    }

    @Test(arguments: 0..<4) func statesAreCountedAsAReadingCountsThem(seed: Int) throws {
        var random = RandomResults(seed: seed)
        let reading = Reading(records: random.indexed(300))
        let index = try open()
        try fill(index, reading.records, by: 100)
        for text in ["job:j", "job:j kind:final since:2026-11-21T12:00:00.010Z", "job:nobody"] {
            let filter = try ResultFilter(text, now: 0)
            let expected = Dictionary(grouping: reading.newest(1000, filter), by: \.state).mapValues(\.count)
            #expect(try index.states(filter) == expected, "\(text)")
        }
    }

    @Test func partsThatNoResultHasAreRemovedOnceTheyAreMany() throws {
        let index = try open()
        let records = (0..<12_000).map { number in
            IndexedRecord(
                partition: 0, offset: Int64(number), time: 1,
                value: Array(#"{"request_id":"a","labels":{"order":"\#(number)"}}"#.utf8))
        }
        try fill(index, records, by: 6000)
        let count = { try index.database.integer("SELECT count(*) FROM facet") }
        #expect(try count() == 12_002)
        #expect(try index.removeRecords(below: [11_000]))
        #expect(try count() == 1_002)
        let filter = try ResultFilter("label.order:1099*,11500", now: 0)
        #expect(try index.failures(filter).tally.count == 1)
    }
}

extension RandomResults {
    /// Random records as the index takes them.
    mutating func indexed(_ count: Int) -> [IndexedRecord] {
        records(count).map {
            IndexedRecord(partition: $0.partition, offset: $0.offset, time: $0.time, value: $0.value)
        }
    }
}

extension RecordBatch {
    /// A batch of copied records.
    init(_ records: some Sequence<IndexedRecord>) {
        self.init()
        for record in records { append(record) }
    }
}
