import PushModel
import Replay
import ResultQuery
import TestSupport
import Testing

@testable import Results

/// Pages of candidates that are taken in any order against the list of all, newest first.
@Suite struct CandidateGatheringTests {
    private static func candidate(_ time: Int64, topic: String = "t", partition: Int32 = 0, offset: Int64) -> SearchCandidate {
        let origin = RecordOrigin(
            topic: topic, partition: partition, offset: offset, timestamp: Timestamp(milliseconds: time))
        return SearchCandidate(at: origin, id: "\(topic):\(partition):\(offset)", facts: nil)
    }

    private static func all(_ count: Int, using generator: inout SeededRandom) -> [SearchCandidate] {
        (0..<count).map { number in
            candidate(
                Int64.random(in: 0..<40, using: &generator), topic: ["a", "b"].randomElement(using: &generator) ?? "a",
                partition: Int32.random(in: 0..<3, using: &generator), offset: Int64(number))
        }
    }

    @Test func theOrderHoldsByTimeThenByPlace() {
        let cursor = SearchCursor(time: 5, place: RecordPlace(topic: "b", partition: 1, offset: 7))
        for (time, topic, partition, offset, isBehind) in [
            (Int64(4), "z", Int32(9), Int64(9), true), (6, "a", 0, 0, false), (5, "b", 1, 7, false), (5, "b", 1, 6, true),
            (5, "b", 1, 8, false), (5, "a", 1, 9, true), (5, "b", 0, 9, true), (5, "c", 1, 0, false),
        ] {
            let place = RecordPlace(topic: topic, partition: partition, offset: offset)
            #expect(cursor.isBefore(time, at: place) == isBehind, "\(time) \(place)")
        }
        let behindAll = SearchCursor(time: 5, place: nil)
        #expect(behindAll.isBefore(4, at: RecordPlace(topic: "a", partition: 0, offset: 0)))
        #expect(!behindAll.isBefore(5, at: RecordPlace(topic: "a", partition: 0, offset: 0)))
        #expect(cursor.until == 6 && behindAll.until == 5 && SearchCursor(time: .max, place: cursor.place).until == .max)
    }

    /// Whatever the capacity and the place, pages behind one another are the list.
    @Test(arguments: 0..<40) func pagesBehindOneAnotherAreTheList(seed: Int) {
        var generator = SeededRandom(seed)
        let all = Self.all(60, using: &generator)
        let list = all.sorted { ($1.time, $1.place) < ($0.time, $0.place) }.map(\.id)
        var shown: [String] = []
        var cursor: SearchCursor?
        while shown.count < list.count {
            var gathering = CandidateGathering(Int.random(in: 1...9, using: &generator), after: cursor)
            for candidate in all.shuffled(using: &generator) { gathering.take(candidate) }
            let batch = gathering.takeOut(since: .min, isWhole: true)
            shown += batch.candidates.map(\.id)
            #expect(batch.hasMore == (shown.count < list.count))
            guard batch.hasMore, let end = batch.end, end != cursor else { break }
            cursor = end
        }
        #expect(shown == list)
    }

    /// Pieces of a topic come newest first, with records among them that are older than their beginning.
    @Test(arguments: 0..<20) func nothingIsGivenOutBeforeItsPlaceIsCertain(seed: Int) {
        var generator = SeededRandom(seed)
        let all = Self.all(60, using: &generator)
        let list = all.sorted { ($1.time, $1.place) < ($0.time, $0.place) }.map(\.id)
        var left = all.shuffled(using: &generator)
        var gathering = CandidateGathering(100, after: nil)
        var shown: [String] = []
        for reached in [Int64(33), 21, 20, 4] {
            let stray = left.filter { $0.time >= reached } + left.filter { $0.time < reached }.prefix(3)
            for candidate in stray { gathering.take(candidate) }
            left.removeAll { candidate in stray.contains { $0.id == candidate.id } }
            let batch = gathering.takeOut(since: reached, isWhole: false)
            #expect(batch.end == SearchCursor(time: reached, place: nil) && batch.hasMore)
            shown += batch.candidates.map(\.id)
            #expect(shown == Array(list.prefix(all.count { $0.time >= reached })))
        }
        for candidate in left { gathering.take(candidate) }
        #expect(shown + gathering.takeOut(since: 0, isWhole: true).candidates.map(\.id) == list)
    }

    @Test func beforeAnythingIsReadTheListIsWhereItWas() {
        var first = CandidateGathering(5, after: nil)
        let batch = first.takeOut(since: .max, isWhole: false)
        #expect(batch.candidates.isEmpty && batch.end == nil && batch.hasMore)
        let cursor = SearchCursor(time: 5, place: nil)
        var second = CandidateGathering(5, after: cursor)
        #expect(second.takeOut(since: .max, isWhole: false).end == cursor)
    }

    @Test func aRequestIsTakenOnceHoweverManyRecordsHoldIt() {
        var gathering = CandidateGathering(5, after: nil)
        for offset in [3, 3, 4, 3] as [Int64] { gathering.take(Self.candidate(7, offset: offset)) }
        #expect(gathering.takeOut(since: 0, isWhole: true).candidates.map(\.origin.offset) == [4, 3])
    }

    /// A list in which nothing says whom a file names is not complete.
    @Test func filesArePassedOverWhereSomethingIsSought() throws {
        var filter = try ResultFilter("", now: 0)
        filter.add(since: 5)
        let files = [Self.candidate(7, offset: 0), Self.candidate(3, offset: 1)]
        #expect(OpenRequests.listed(files, for: filter).files.map(\.time) == [7])
        #expect(OpenRequests.listed(files, for: filter).isComplete)
        filter.add(Sought(.user, values: [.init("alice")]))
        #expect(OpenRequests.listed(files, for: filter).files.isEmpty && !OpenRequests.listed(files, for: filter).isComplete)
        #expect(OpenRequests.listed([files[1]], for: filter).isComplete)
    }

    @Test func nearOffsetsAreReadInOneGo() {
        #expect(OriginRecords.ranges(of: [5, 3, 4, 3]) == [3..<6])
        #expect(OriginRecords.ranges(of: [1000, 0, 150]) == [0..<151, 1000..<1001])
        #expect(OriginRecords.ranges(of: []).isEmpty)
    }

    @Test func resultsOfRequestsNearEachOtherAreReadInOneGo() {
        #expect(SearchJoin.clusters(of: [0, 1_000_000, 200_000]) == [1_000_000...1_000_000, 0...200_000])
        #expect(SearchJoin.clusters(of: [.min, 5]) == [5...5, .min ... .min] && SearchJoin.clusters(of: []).isEmpty)
    }
}
