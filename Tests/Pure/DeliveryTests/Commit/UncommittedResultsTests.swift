import Delivery
import TestSupport
import Testing

/// What a worker knows of partitions that it has lost.
struct UncommittedResultsTests {
    private static let here = Membership.Partition(topic: "requests", number: 0)
    private static let there = Membership.Partition(topic: "requests", number: 1)

    private static func position(_ offset: Int64, _ metadata: String = "m") -> LedgerCommit {
        LedgerCommit(offset: offset, metadata: metadata)
    }

    private static func request(_ offset: Int64, time: Int64 = 1, byteCount: Int = 10, id: UInt64 = 0) -> KnownRequest {
        var identity = RequestIdentity(seed: 0)
        identity.add(id)
        return KnownRequest(offset: offset, time: time, byteCount: byteCount, id: identity)
    }

    private static func entries(_ offsets: some Sequence<Int64>, byteCount: Int = 1) -> [UncommittedResults<Int64>.Entry] {
        offsets.map { .init($0 * 10, of: request($0), byteCount: byteCount) }
    }

    /// Lost at 5, with a commit on its way that says 7.
    private static func lost() -> UncommittedResults<Int64> {
        var known = UncommittedResults<Int64>()
        known.noteLost(here, at: [position(5), position(7, "n")], knowing: entries([5, 6, 9]))
        return known
    }

    @Test(
        arguments: [
            ("where it was lost", position(5), true),
            ("where the commit on its way put it", position(7, "n"), true),
            ("further on", position(6), false),
            ("further back", position(4), false),
            ("another has read or begun something", position(5, "n"), false),
            ("the same, behind the commit", position(7), false),
            ("it begins elsewhere", nil, false),
        ] as [(String, LedgerCommit?, Bool)])
    func whatIsKnownCountsOnlyWhereTheGroupStandsAsItWasLeft(_ name: String, at position: LedgerCommit?, counts: Bool) {
        var known = Self.lost()
        let found = known.noteStart(Self.here, at: position)
        #expect(found == (counts ? (10, 3) : (0, 0)), "\(name)")
        #expect(known.count == (counts ? 3 : 0))
        #expect(known.take(Self.request(9), of: Self.here) == (counts ? 90 : nil))
    }

    @Test func whatIsKnownOfOthersStays() {
        var known = Self.lost()
        #expect(known.noteStart(Self.there, at: Self.position(5)) == (0, 0))
        #expect(known.noteStart(Self.here, at: Self.position(5)) == (10, 3))
        #expect(known.take(Self.request(5), of: Self.there) == nil)
        #expect(known.take(Self.request(5), of: Self.here) == 50)
    }

    @Test(
        arguments: [
            ("the same", request(6), true), ("another time", request(6, time: 2), false),
            ("another size", request(6, byteCount: 11), false), ("another id", request(6, id: 1), false),
            ("another offset", request(7), false),
        ] as [(String, KnownRequest, Bool)])
    func anotherRecordAtTheOffsetIsNoKnownRequest(_ name: String, _ request: KnownRequest, isKnown: Bool) {
        var known = Self.lost()
        _ = known.noteStart(Self.here, at: Self.position(5))
        #expect(known.take(request, of: Self.here) == (isKnown ? 60 : nil), "\(name)")
    }

    @Test func eachIsTakenOnce() {
        var known = Self.lost()
        for offset in [5, 6, 9] as [Int64] {
            #expect(known.take(Self.request(offset), of: Self.here) == offset * 10)
            #expect(known.take(Self.request(offset), of: Self.here) == nil)
        }
        #expect(known.count == 0 && known.byteCount == 0)
        #expect(known.noteStart(Self.here, at: Self.position(5)) == (0, 0))
    }

    @Test func whatWasNotReadAgainBeforeTheNextLossIsStillKnown() {
        var known = Self.lost()
        _ = known.noteStart(Self.here, at: Self.position(5))
        _ = known.take(Self.request(5), of: Self.here)
        // It was committed; 6 was not read again, and 8 is new.
        known.noteLost(Self.here, at: [Self.position(6)], knowing: Self.entries([8]))
        #expect(known.noteStart(Self.here, at: Self.position(6)) == (10, 3))
        // All before 9 was committed in another way.
        known.noteLost(Self.here, at: [Self.position(9)], knowing: [])
        #expect(known.noteStart(Self.here, at: Self.position(9)) == (10, 1))
        #expect(known.count == 1 && known.byteCount == 1)
    }

    @Test func withoutAPositionNothingIsKept() {
        var known = Self.lost()
        known.noteLost(Self.here, at: [], knowing: Self.entries([5]))
        #expect(known.count == 0 && known.byteCount == 0)
    }

    /// Two partitions are lost, one after the other: how many outcomes of how many bytes, and how many of each are kept.
    @Test(
        arguments: [
            ("both have room", 2048, 2048, 1, 2048, 2048),
            ("the older gives way", 2048, 2049, 1, 0, 2049),
            ("one has too many", 0, 4097, 1, 0, 4096),
            ("by bytes", 1, 3, 1 << 20, 1, 3),
            ("the older gives way by bytes", 2, 3, 1 << 20, 0, 3),
            ("one has too many bytes", 1, 5, 1 << 20, 0, 4),
            ("one alone is too large", 1, 1, (4 << 20) + 1, 0, 0),
        ] as [(String, Int64, Int64, Int, Int, Int)])
    func thereIsABoundOfCountAndBytes(
        _ name: String, older: Int64, newer: Int64, byteCount: Int, keptOfOlder: Int, keptOfNewer: Int
    ) {
        var known = UncommittedResults<Int64>()
        known.noteLost(Self.here, at: [Self.position(0)], knowing: Self.entries(0..<older, byteCount: byteCount))
        known.noteLost(Self.there, at: [Self.position(0)], knowing: Self.entries(0..<newer, byteCount: byteCount))
        #expect(known.count == keptOfOlder + keptOfNewer, "\(name)")
        #expect(known.byteCount == known.count * byteCount, "\(name)")
        #expect(known.noteStart(Self.here, at: Self.position(0)).count == keptOfOlder, "\(name)")
        #expect(known.noteStart(Self.there, at: Self.position(0)).count == keptOfNewer, "\(name)")
        #expect(
            known.count <= UncommittedResults<Int64>.greatestCount
                && known.byteCount <= UncommittedResults<Int64>.greatestByteCount)
    }

    /// A partition that is read, committed and lost by chance, with commits whose end is not known. Without another worker that records
    /// something, no call is made twice; after one that does, nothing is taken for known.
    @Test(arguments: 0..<100)
    func noCallIsMadeTwiceUnlessAnotherWorkerRecordsSomething(seed: Int) {
        let hasOthers = seed % 2 == 1
        var random = SeededRandom(seed)
        var known = UncommittedResults<Int64>()
        var calls: [Int64: Int] = [:]
        var recorded: Set<Int64> = []
        var waiting: Set<Int64> = []
        var hasMoved = false
        func position(_ finished: Set<Int64>) -> LedgerCommit { Self.position(0, "\(finished.sorted())") }
        for _ in 0..<500 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                recorded.formUnion(waiting)
                waiting = []
            case 1:
                let offered = Set(waiting.sorted().filter { _ in Bool.random(using: &random) })
                let positions = [position(recorded), position(recorded.union(offered))]
                known.noteLost(Self.here, at: positions, knowing: Self.entries(waiting.sorted()))
                waiting = []
                if Bool.random(using: &random) { recorded.formUnion(offered) }
                let other = Int64.random(in: 0..<60, using: &random)
                // What was offered may be what the other records, and then no one can tell them apart.
                hasMoved = hasOthers && !recorded.contains(other) && !offered.contains(other)
                if hasMoved { recorded.insert(other) }
                _ = known.noteStart(Self.here, at: position(recorded))
            default:
                let offset = Int64.random(in: 0..<60, using: &random)
                guard !recorded.contains(offset), !waiting.contains(offset) else { continue }
                let outcome = known.take(Self.request(offset), of: Self.here)
                if hasMoved { #expect(outcome == nil) }
                if outcome == nil { calls[offset, default: 0] += 1 }
                waiting.insert(offset)
            }
        }
        #expect(hasOthers || calls.values.allSatisfy { $0 == 1 })
        #expect(known.count <= 60)
    }
}
