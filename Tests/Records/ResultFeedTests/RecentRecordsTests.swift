import TestSupport
import Testing

@testable import ResultFeed

/// The records in memory, against lists that keep everything.
@Suite struct RecentRecordsTests {
    private static func read(
        _ records: RecentRecords, from offsets: [Int32: Int64], onlyNamed: Bool = false, by rule: RecentRecords.Rule = .known,
        room: FeedRoom = FeedRoom(records: 1000, bytes: .max), where isWanted: (FeedRecord) -> Bool = { _ in true }
    ) -> (spots: [Spot], places: [Int32: Int64], isAtEnd: Bool)? {
        records.read(from: FeedPlaces(offsets), onlyNamed: onlyNamed, by: rule, room: room, where: isWanted)
            .map { ($0.records.map { Spot($0) }, $0.places.offsets, $0.isAtEnd) }
    }

    /// Two partitions from offset 10 on, with records 10, 12 of the first and 10, 11, 12 of the second.
    private static func make() throws -> RecentRecords {
        var records = RecentRecords(byteLimit: .max)
        records.begin(at: [10, 10])
        for (partition, offset) in [(0, 10), (1, 10), (1, 11), (0, 12), (1, 12)] as [(Int32, Int64)] {
            try #expect(records.take(makeRecord(partition, offset)))
        }
        let isAdvanced = records.advance(0, to: 15)
        #expect(isAdvanced)
        return records
    }

    @Test(
        arguments: [
            ([0: 10, 1: 10], [Spot(0, 10), Spot(1, 10), Spot(1, 11), Spot(0, 12), Spot(1, 12)]),
            ([0: 11, 1: 11], [Spot(1, 11), Spot(0, 12), Spot(1, 12)]), ([0: 13, 1: 12], [Spot(1, 12)]), ([0: 15, 1: 13], []),
            ([0: 9, 1: 13], nil), ([0: 16, 1: 13], nil), ([0: 15, 1: 13, 2: 0], nil), ([0: 15], nil), ([:], nil),
        ] as [([Int32: Int64], [Spot]?)])
    func aPlaceIsReadWhereAllBehindItIsHeld(offsets: [Int32: Int64], spots: [Spot]?) throws {
        let reading = try Self.read(Self.make(), from: offsets)
        #expect(reading?.spots == spots)
        if let reading {
            #expect(reading.places == [0: 15, 1: 13] && reading.isAtEnd)
        }
    }

    @Test(
        arguments: [
            ([1: 11], [Spot(1, 11), Spot(1, 12)], [1: 13]), ([0: 13], [], [0: 15]), ([:], [], [:]), ([1: 9], nil, [:]),
            ([7: 0], nil, [:]),
        ] as [([Int32: Int64], [Spot]?, [Int32: Int64])])
    func whoNamesPartitionsReadsThemAlone(offsets: [Int32: Int64], spots: [Spot]?, behind: [Int32: Int64]) throws {
        let reading = try Self.read(Self.make(), from: offsets, onlyNamed: true)
        #expect(reading?.spots == spots)
        if let reading { #expect(reading.places == behind) }
    }

    @Test(
        arguments: [
            (RecentRecords.Rule.checked, [0: 99, 1: 12, 4: 7], [Spot(1, 12)], [0: 99, 1: 13, 4: 7]),
            (.checked, [0: 9, 1: 12], nil, [:]),
            (.partly, [0: 99, 1: 12, 4: 7], [Spot(1, 12)], [0: 99, 1: 13, 4: 7]),
            (.partly, [0: 9, 1: 12], [Spot(1, 12)], [0: 9, 1: 13]),
        ] as [(RecentRecords.Rule, [Int32: Int64], [Spot]?, [Int32: Int64])])
    func whatIsNotHeldStaysAsItIs(
        rule: RecentRecords.Rule, offsets: [Int32: Int64], spots: [Spot]?, behind: [Int32: Int64]
    ) throws {
        let reading = try Self.read(Self.make(), from: offsets, onlyNamed: true, by: rule)
        #expect(reading?.spots == spots)
        if let reading { #expect(reading.places == behind) }
    }

    @Test(arguments: [(1, [0: 12, 1: 10]), (2, [0: 12, 1: 11]), (4, [0: 15, 1: 12])] as [(Int, [Int32: Int64])])
    func roomEndsAReadingBeforeTheFirstThatIsNotTaken(count: Int, behind: [Int32: Int64]) throws {
        let records = try Self.make()
        let reading = try #require(Self.read(records, from: [0: 10, 1: 10], room: FeedRoom(records: count, bytes: .max)))
        #expect(reading.spots.count == count && !reading.isAtEnd && reading.places == behind)
        let tight = try #require(Self.read(records, from: [0: 10, 1: 10], room: FeedRoom(records: 9, bytes: 1)))
        #expect(tight.spots == [Spot(0, 10)] && tight.places == [0: 12, 1: 10])
    }

    @Test func roomThatIsJustEnoughIsTheEnd() throws {
        let records = try Self.make()
        let reading = try #require(Self.read(records, from: [0: 10, 1: 10], room: FeedRoom(records: 5, bytes: .max)))
        #expect(reading.spots.count == 5 && reading.isAtEnd)
        let wanted = try #require(
            Self.read(records, from: [0: 10, 1: 10], room: FeedRoom(records: 1, bytes: .max)) { $0.offset == 11 })
        #expect(wanted.spots == [Spot(1, 11)] && wanted.isAtEnd && wanted.places == [0: 15, 1: 13])
    }

    @Test func aReadingThatFindsLittleLetsOthersInAndGoesOn() throws {
        var records = RecentRecords(byteLimit: .max)
        records.begin(at: [0])
        let count = Int64(RecentRecords.scanLimit) + 10
        for offset in 0..<count { try #expect(records.take(makeRecord(0, offset))) }
        let first = try #require(Self.read(records, from: [0: 0]) { $0.offset == count - 1 })
        #expect(first.spots.isEmpty && !first.isAtEnd && first.places == [0: count - 10])
        let second = try #require(Self.read(records, from: first.places) { $0.offset == count - 1 })
        #expect(second.spots == [Spot(0, count - 1)] && second.isAtEnd && second.places == [0: count])
        #expect(Self.read(records, from: [0: 0], by: .partly) { _ in false }?.isAtEnd == true, "a slice is read in one go")
    }

    /// The first partition is known to 15, and the second to 13.
    @Test(
        arguments: [
            ([], [0: 15, 1: 13], false), ([15, 16], [0: 17], false), ([16], [0: 17], false), ([17], [0: 18], true),
            ([15, 18], [0: 19], true), ([15], [0: 18], true), ([], [1: 15], true), ([], [2: 99], false),
        ] as [([Int64], [Int32: Int64], Bool)])
    func offsetsThatAreLeftOutAreAGap(offsets: [Int64], positions: [Int32: Int64], isGap: Bool) throws {
        let next = try offsets.map { try makeRecord(0, $0) }
        #expect(try Self.make().hasGap(of: 2, before: next, upTo: positions) == isGap)
    }

    @Test func aRecordBeforeTheLastOneIsNotTaken() throws {
        var records = try Self.make()
        #expect(try !records.take(makeRecord(0, 14)) && !records.advance(0, to: 14) && !records.advance(2, to: 14))
        #expect(try !records.take(makeRecord(2, 0)))
        #expect(records.windows == [10..<15, 10..<13])
    }

    @Test(
        arguments: [
            ([15, 13], [10..<15, 10..<13], 5), ([15, 13, 4], [10..<15, 10..<13, 4..<4], 5), ([15, 20], [10..<15, 20..<20], 2),
            ([3, 13], [3..<3, 10..<13], 3), ([15], [10..<15], 2),
        ] as [([Int64], [Range<Int64>], Int)])
    func whatDoesNotJoinIsDropped(starts: [Int64], windows: [Range<Int64>], left: Int) throws {
        var records = try Self.make()
        records.begin(at: starts)
        #expect(records.windows == windows)
        let places = Dictionary(uniqueKeysWithValues: windows.enumerated().map { (Int32($0), $1.lowerBound) })
        #expect(Self.read(records, from: places)?.spots.count == left)
    }

    @Test func aRecordBeyondTheLimitIsPassedOverAndTheRestGoesOn() throws {
        var records = RecentRecords(byteLimit: 4000)
        records.begin(at: [0, 0])
        for (partition, padding) in [(0, 0), (1, 0), (0, 9000), (0, 0)] as [(Int32, Int)] {
            let offset = records.windows[Int(partition)].upperBound
            #expect(try records.take(makeRecord(partition, offset, padding: padding)))
        }
        #expect(records.windows == [2..<3, 0..<1])
        #expect(Self.read(records, from: [0: 2])?.spots == [Spot(1, 0), Spot(0, 2)])
        #expect(Self.read(records, from: [0: 1]) == nil)
    }

    /// A place is read in any number of steps: in order, nothing twice, nothing missed.
    @Test(arguments: 0..<150) func whatIsReadIsWhatWasWritten(seed: Int) throws {
        var random = SeededRandom(seed)
        var model = Model(random: random)
        for step in 0..<400 {
            try model.write()
            #expect(model.records.byteCount <= Model.byteLimit)
            if step % 7 == 0 { try model.checkReading() }
        }
        _ = random.next()
        #expect(model.readCount > 0)
    }

    /// A topic, and the memory of it.
    private struct Model {
        static let byteLimit = 20_000

        var random: SeededRandom
        var records = RecentRecords(byteLimit: byteLimit)
        /// All that was written, and the end of each partition.
        var written: [Spot] = []
        var ends: [Int64] = []
        var readCount = 0

        init(random: SeededRandom) {
            self.random = random
            ends = (0...self.random.below(3)).map { _ in Int64(self.random.below(50)) }
            records.begin(at: ends)
        }

        mutating func write() throws {
            if random.below(60) == 0 {
                ends.append(0)
                records.begin(at: ends)
            }
            let partition = random.below(ends.count)
            ends[partition] += Int64(random.below(3))
            if random.below(5) == 0 {
                let isAdvanced = records.advance(Int32(partition), to: ends[partition])
                #expect(isAdvanced)
                return
            }
            let spot = Spot(Int32(partition), ends[partition])
            let padding = random.below(40) == 0 ? Self.byteLimit : random.below(400)
            #expect(try records.take(makeRecord(spot.partition, spot.offset, padding: padding)))
            written.append(spot)
            ends[partition] += 1
        }

        /// Reads from a place that is held to the end, in steps.
        mutating func checkReading() throws {
            let onlyNamed = random.below(2) == 0
            var offsets: [Int32: Int64] = [:]
            for (index, window) in records.windows.enumerated() where !onlyNamed || random.below(2) == 0 {
                offsets[Int32(index)] = Int64.random(in: window.lowerBound...window.upperBound, using: &random)
            }
            let parity = Int64(random.below(3))
            func isWanted(_ offset: Int64) -> Bool { parity == 2 || offset % 2 == parity }
            let expected = written.filter { spot in
                isWanted(spot.offset) && offsets[spot.partition].map { spot.offset >= $0 } == true
            }
            var (found, isAtEnd, places): ([Spot], Bool, [Int32: Int64]) = ([], false, offsets)
            while !isAtEnd {
                let room = FeedRoom(records: 1 + random.below(9), bytes: 1 + random.below(2000))
                let reading = try #require(
                    RecentRecordsTests.read(records, from: places, onlyNamed: onlyNamed, room: room) { isWanted($0.offset) })
                try #require(!reading.spots.isEmpty || reading.isAtEnd)
                found += reading.spots
                (places, isAtEnd) = (reading.places, reading.isAtEnd)
            }
            for partition in Set(expected.map(\.partition)).union(found.map(\.partition)) {
                #expect(found.filter { $0.partition == partition } == expected.filter { $0.partition == partition })
            }
            let end = ends.enumerated().map { (Int32($0), $1) }.filter { offsets[$0.0] != nil }
            #expect(places == Dictionary(uniqueKeysWithValues: end))
            readCount += found.count
        }
    }
}
