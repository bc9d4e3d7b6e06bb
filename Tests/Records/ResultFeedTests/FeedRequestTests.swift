import Testing

@testable import ResultFeed

/// Places against what Kafka keeps, and what is left to be read there.
@Suite struct FeedRequestTests {
    private static func make(_ offsets: [Int32: Int64], onlyNamed: Bool = false) -> FeedRequest {
        FeedRequest(
            places: FeedPlaces(offsets), onlyNamed: onlyNamed, room: FeedRoom(records: 1, bytes: 1), isWanted: { _ in true },
            then: { _ in })
    }

    @Test(
        arguments: [
            ([:], nil, [0: 5, 1: 0]), ([0: 5, 1: 9], nil, [0: 5, 1: 9]), ([0: 9], nil, [0: 9, 1: 0]),
            ([0: 4, 1: 9], [0: 5, 1: 9], [0: 5, 1: 9]), ([0: 10, 1: 9], [0: 5, 1: 9], [0: 5, 1: 9]),
            ([0: 7, 2: 0], [0: 7, 1: 0], [0: 7, 1: 0]), ([-1: 7], [0: 5, 1: 0], [0: 5, 1: 0]),
        ] as [([Int32: Int64], [Int32: Int64]?, [Int32: Int64])])
    func aPlaceIsGoneOutsideOfWhatIsKept(offsets: [Int32: Int64], first: [Int32: Int64]?, places: [Int32: Int64]) {
        var request = Self.make(offsets)
        #expect(request.findGone(by: [5..<9, 0..<9])?.offsets == first)
        #expect(request.places.offsets == places)
    }

    @Test(
        arguments: [
            ([:], nil, [:]), ([1: 3], nil, [1: 3]), ([0: 3], [0: 5], [0: 5]), ([2: 3], [:], [:]),
        ] as [([Int32: Int64], [Int32: Int64]?, [Int32: Int64])])
    func whoNamesPartitionsIsGivenNoOthers(offsets: [Int32: Int64], first: [Int32: Int64]?, places: [Int32: Int64]) {
        var request = Self.make(offsets, onlyNamed: true)
        #expect(request.findGone(by: [5..<9, 0..<9])?.offsets == first)
        #expect(request.places.offsets == places)
    }

    /// Kafka keeps 0 to 100 of two partitions, and memory holds 60 to 90 of the first.
    @Test(
        arguments: [
            ([0: 10, 1: 10], [0: 10..<60, 1: 10..<100]), ([0: 60, 1: 100], [:]), ([0: 90, 1: 99], [1: 99..<100]),
            ([0: 91], [0: 91..<100]), ([0: 100], [:]), ([:], [:]),
        ] as [([Int32: Int64], [Int32: Range<Int64>])])
    func whatMemoryLacksIsRead(offsets: [Int32: Int64], missing: [Int32: Range<Int64>]) {
        #expect(Self.make(offsets).findMissing(in: [0..<100, 0..<100], besides: [60..<90]) == missing)
    }

    @Test func timesOfOneSecondAreSoughtOnceAndTheFirstToComeAreFirst() {
        let searches = [5000, 5999, 4000, 0, .max, -7, 999, 9000].map { FeedSearch(time: $0, then: { _ in }) }
        #expect(FeedSearch.times(of: searches, most: 16) == [5000, 4000, 0, .max, 9000])
        #expect(FeedSearch.times(of: searches, most: 2) == [5000, 4000])
    }

    @Test func memoryBehindTheEndIsOfATopicThatIsNoMore() {
        #expect(Self.make([0: 3]).findMissing(in: [0..<5], besides: [50..<90]) == [0: 3..<5])
        #expect(Self.make([0: 5]).findMissing(in: [0..<5], besides: [50..<90]).isEmpty)
    }
}
