import Basics
import Delivery
import TestSupport
import Testing

struct LanePlacesTests {
    private static let second: Int64 = 1_000_000_000

    /// Lanes of weight 8, 4 and 1 with so many calls under way.
    private static func places(_ underWay: [Int] = [0, 0, 0], at now: Int64 = 0) -> LanePlaces {
        var places = LanePlaces(weights: [8, 4, 1])
        _ = places.open(limit: 64, now: .at(now))
        for (lane, count) in underWay.enumerated() {
            for _ in 0..<count { places.noteStart(lane) }
        }
        return places
    }

    @Test(
        arguments: [
            // A lane alone has every place.
            ([0, 0, 63], 0b111), ([0, 63, 0], 0b011 | 0b100), ([63, 0, 0], 0b111),
            // What is above has 5 under way: 5 places stay free for it.
            ([0, 5, 53], 0b111), ([0, 5, 54], 0b011), ([5, 0, 54], 0b011), ([5, 0, 53], 0b111),
            // At most a quarter stays free.
            ([0, 20, 27], 0b111), ([0, 20, 28], 0b011),
            // No lane is left out while it has less than its weight's part of the places.
            ([0, 58, 4], 0b111), ([0, 58, 5], 0b011), ([30, 18, 5], 0b011), ([24, 20, 5], 0b001),
            // Nothing is free.
            ([0, 0, 64], 0), ([20, 20, 24], 0), ([70, 0, 0], 0),
        ] as [([Int], UInt64)])
    func aLaneLeavesFreeWhatThoseAboveNeed(underWay: [Int], open: UInt64) {
        var places = Self.places(underWay)
        #expect(places.open(limit: 64, now: 1) == open)
    }

    @Test func whatWasNeededLatelyStaysFreeForOneToTwoSeconds() {
        var places = Self.places([0, 6, 0])
        for _ in 0..<6 { places.noteEnd(1) }
        for _ in 0..<58 { places.noteStart(2) }
        for now in [1, Self.second - 1, Self.second, 2 * Self.second - 1] {
            #expect(places.open(limit: 64, now: .at(now)) == 0b011, "at \(now)")
        }
        #expect(places.open(limit: 64, now: .at(2 * Self.second)) == 0b111)
    }

    @Test func aLongPauseForgetsWhatWasNeeded() {
        var places = Self.places([0, 6, 0])
        for _ in 0..<6 { places.noteEnd(1) }
        for _ in 0..<60 { places.noteStart(2) }
        #expect(places.open(limit: 64, now: .at(60 * Self.second)) == 0b111)
    }

    @Test func endsWithoutABeginningAreNoPlaces() {
        var places = Self.places()
        places.noteEnd(1)
        #expect(places.count == 0)
        for _ in 0..<64 { places.noteStart(2) }
        #expect(places.open(limit: 64, now: 1) == 0)
    }

    /// Each lane always has work, and calls end at random: turns and places together give each about what its weight says.
    @Test(arguments: [1, 2, 3]) func noLaneIsLeftOutWhenAllHaveMoreThanEnough(seed: Int) throws {
        var random = SeededRandom(seed)
        var places = LanePlaces(weights: [8, 4, 1])
        var turns = WeightedTurns(weights: [8, 4, 1])
        var underWay: [Int] = []
        var begun = [0, 0, 0]
        for step in 0..<100_000 {
            let open = places.open(limit: 64, now: .at(Int64(step) * 100_000))
            if let lane = turns.next(among: open) {
                try #require(begun.indices.contains(lane))
                places.noteStart(lane)
                underWay.append(lane)
                begun[lane] += 1
            } else {
                try #require(!underWay.isEmpty)
                let index = Int.random(in: 0..<underWay.count, using: &random)
                places.noteEnd(underWay.remove(at: index))
            }
            #expect(places.count == underWay.count && places.count <= 64)
        }
        let sum = begun.reduce(0, +)
        for (lane, weight) in [8, 4, 1].enumerated() {
            #expect(begun[lane] * 13 * 4 >= sum * weight * 3, "lane \(lane) began \(begun) calls")
        }
    }
}
