import TestSupport
import Testing

@testable import Delivery

struct RecentRequestsTests {
    /// A record of a partition: its names, and when it was published.
    private struct Record {
        let offset: Int64
        let key: Int?
        let id: Int?
        let time: Int64
    }

    private static func identity(_ name: Int) -> RequestIdentity {
        var identity = RequestIdentity(seed: 7)
        identity.add(Array("request \(name)".utf8).span)
        return identity
    }

    /// A partition with gaps, repetitions near and far, and times that are not in order.
    private static func partition(_ random: inout SeededRandom, hasKeys: Bool = true) -> [Record] {
        var records: [Record] = []
        var (offset, time) = (Int64(0), Int64(1_000_000))
        for _ in 0..<600 {
            offset += Int64(1 + (random.below(5) == 0 ? random.below(20) : 0))
            time += Int64(random.below(200)) - 20
            let key = hasKeys && random.below(3) == 0 ? 1000 + random.below(40) : nil
            records.append(Record(offset: offset, key: key, id: random.below(5) > 0 ? random.below(80) : nil, time: time))
        }
        return records
    }

    /// The definition, without any structure: the latest record that remembers a name counts, by the time of the one that was sent.
    private static func repetitions(
        _ records: [Record], reach: Int, keyWindow: Int64, idWindow: Int64
    ) -> [RecentRequests.Repetition?] {
        var seen: [(name: Int, offset: Int64, sent: Int64)] = []
        return records.map { record in
            func same(_ name: Int?, _ window: Int64) -> (name: Int, offset: Int64, sent: Int64)? {
                let latest = seen.last { $0.name == name && $0.offset >= record.offset - Int64(reach) }
                return latest.flatMap { abs(record.time - $0.sent) <= window ? $0 : nil }
            }
            let (key, id) = (same(record.key, keyWindow), same(record.id, idWindow))
            for (name, same) in [(record.key, key), (record.id, id)] {
                guard let name, same != nil || (key == nil && id == nil) else { continue }
                seen.append((name, record.offset, same?.sent ?? record.time))
            }
            return key.map { RecentRequests.Repetition.key($0.offset) } ?? id.map { RecentRequests.Repetition.id($0.offset) }
        }
    }

    private static func received(
        _ recent: inout RecentRequests, _ record: Record, keyWindow: Int64, idWindow: Int64
    ) -> RecentRequests.Repetition? {
        recent.received(
            key: record.key.map { .init(identity($0), window: keyWindow) },
            id: record.id.map { .init(identity($0), window: idWindow) }, offset: record.offset, time: .at(record.time))
    }

    @Test(arguments: 0..<60)
    func aRepetitionIsWhatTheDefinitionSays(seed: Int) {
        var random = SeededRandom(seed)
        let records = Self.partition(&random)
        let (reach, keyWindow, idWindow) = (1 + random.below(300), Int64(random.below(8000)), Int64(random.below(8000)))
        var recent = RecentRequests(reach: reach, start: 0)
        let expected = Self.repetitions(records, reach: reach, keyWindow: keyWindow, idWindow: idWindow)
        for (record, expected) in zip(records, expected) {
            #expect(Self.received(&recent, record, keyWindow: keyWindow, idWindow: idWindow) == expected)
            #expect(recent.count <= 2 * (reach + 1))
            #expect(recent.end == record.offset + 1)
        }
        #expect(expected.contains { $0 == nil })
    }

    /// 32 bits of the numbers are kept: some seeds pass 2^32 while the ring grows, others later.
    @Test(arguments: 0..<60)
    func numbersThatDoNotFitChangeNothing(seed: Int) {
        var random = SeededRandom(seed)
        let records = Self.partition(&random)
        let (reach, window) = (1 + random.below(300), Int64(random.below(8000)))
        var recent = RecentRequests(reach: reach, start: 0, firstNumber: (1 << 32) - random.below(500))
        let expected = Self.repetitions(records, reach: reach, keyWindow: window, idWindow: window)
        for (record, expected) in zip(records, expected) {
            #expect(Self.received(&recent, record, keyWindow: window, idWindow: window) == expected)
        }
    }

    /// A new owner who reads what is within reach again finds the same as who was never away.
    @Test(arguments: 0..<60)
    func whoeverTakesOverFindsTheSame(seed: Int) {
        var random = SeededRandom(seed)
        let records = Self.partition(&random, hasKeys: false)
        let reach = 20 + random.below(300)
        let window = Int64.max / 2
        let expected = Self.repetitions(records, reach: reach, keyWindow: window, idWindow: window)
        let place = random.below(records.count)
        let start = max(0, records[place].offset - Int64(reach))
        var recent = RecentRequests(reach: reach, start: start)
        for (index, record) in records.enumerated() where record.offset >= start {
            let found = Self.received(&recent, record, keyWindow: window, idWindow: window)
            if index >= place { #expect(found == expected[index]) }
        }
        #expect(expected.contains { $0 != nil })
    }

    struct Step: Sendable {
        var key: Int?
        var id: Int?
        let offset: Int64
        var time: Int64 = 0
        var repeats: RecentRequests.Repetition?
    }

    @Test(arguments: [
        // The window is that of the one that was sent: who repeats himself for ever is heard once in each.
        [
            Step(key: 1, offset: 0, time: 0), Step(key: 1, offset: 1, time: 60, repeats: .key(0)),
            Step(key: 1, offset: 2, time: 100, repeats: .key(1)), Step(key: 1, offset: 3, time: 101),
            Step(key: 1, offset: 4, time: 160, repeats: .key(3)), Step(key: 1, offset: 5, time: 202),
        ],
        // The reach is counted from the latest one, and the tenth offset before is within it.
        [
            Step(id: 1, offset: 0), Step(id: 1, offset: 10, repeats: .id(0)), Step(id: 1, offset: 20, repeats: .id(10)),
            Step(id: 1, offset: 31),
        ],
        // Clocks that go back.
        [Step(id: 1, offset: 0, time: 100), Step(id: 1, offset: 1, time: 0, repeats: .id(0)), Step(id: 1, offset: 2, time: -1)],
        // Of a repetition by its key the id is free, because nothing was sent under it; and the other way round.
        [
            Step(key: 1, id: 2, offset: 0), Step(key: 1, id: 3, offset: 1, repeats: .key(0)), Step(id: 3, offset: 2),
            Step(key: 4, id: 3, offset: 3, repeats: .id(2)), Step(key: 4, id: 5, offset: 4),
        ],
        // A name that is repeated twice over is told by its key.
        [
            Step(key: 1, id: 2, offset: 0), Step(key: 1, id: 2, offset: 1, repeats: .key(0)),
            Step(id: 2, offset: 2, repeats: .id(1)),
        ],
        // Times that are too far apart to be counted.
        [Step(id: 1, offset: 0, time: .min), Step(id: 1, offset: 1, time: .max)],
        // Without names nothing is repeated.
        [Step(offset: 0), Step(offset: 1)],
    ])
    func windowAndReachAreKept(steps: [Step]) {
        var recent = RecentRequests(reach: 10, start: 0)
        for step in steps {
            let record = Record(offset: step.offset, key: step.key, id: step.id, time: step.time)
            #expect(Self.received(&recent, record, keyWindow: 100, idWindow: 100) == step.repeats)
        }
    }

    /// Who refuses a request after it was taken in knows what its record does not tell: that nothing was sent.
    @Test func whatWasRefusedAndWhatRepeatedItAreRepeatedByNothing() {
        var recent = RecentRequests(reach: 1000, start: 0)
        func received(_ key: Int?, _ id: Int?, _ offset: Int64, at time: Int64) -> RecentRequests.Repetition? {
            Self.received(&recent, Record(offset: offset, key: key, id: id, time: time), keyWindow: 100, idWindow: 100)
        }
        // Others lie between, so that chains are long and the ring grows.
        for offset in 0..<60 { #expect(received(nil, 100 + offset, Int64(offset), at: 0) == nil) }
        #expect(received(nil, 1, 60, at: 0) == nil)
        #expect(received(2, 1, 61, at: 150) == nil)
        #expect(received(2, 3, 62, at: 160) == .key(61))
        for offset in 63..<200 { #expect(received(nil, 100 + offset, Int64(offset), at: 0) == nil) }
        #expect(received(nil, 1, 200, at: 170) == .id(61))
        let names = (
            key: RecentRequests.Name(Self.identity(2), window: 100), id: RecentRequests.Name(Self.identity(1), window: 100)
        )
        recent.refused(key: names.key, id: names.id, time: .at(149))
        #expect(received(nil, 1, 201, at: 180) == .id(200), "another one was refused")
        recent.refused(key: names.key, id: names.id, time: .at(150))
        #expect(received(2, 1, 202, at: 190) == nil)
        #expect(received(2, nil, 203, at: 200) == .key(202))
        #expect(received(nil, 1, 204, at: 200) == .id(202))
        // The first one was sent, and is within the window of a clock that went back.
        recent.refused(key: nil, id: names.id, time: .at(190))
        #expect(received(nil, 1, 205, at: 90) == .id(60))
        #expect(received(nil, 150, 206, at: 0) == .id(50) && received(nil, 163, 207, at: 0) == .id(63))
    }

    @Test(arguments: [1, 1000, 4096])
    func memoryIsBoundedByTheReach(reach: Int) {
        var recent = RecentRequests(reach: reach, start: 0)
        for offset in 0..<20_000 {
            let record = Record(offset: Int64(offset), key: 2 * offset, id: 2 * offset + 1, time: 0)
            #expect(Self.received(&recent, record, keyWindow: 1, idWindow: 1) == nil)
        }
        #expect(recent.count == 2 * (reach + 1))
        // Two names for each offset, in a power of two of places of 48 bytes.
        #expect(recent.byteCount <= max(64, 4 * (reach + 1)) * 48)
    }

    @Test func differentTextsHaveDifferentIdentities() {
        var seen: Set<RequestIdentity> = []
        let texts: [[String]] = [
            [], [""], ["a"], ["b"], ["a", ""], ["", "a"], ["ab"], ["a", "b"], ["b", "a"], ["\0"], ["\0\0"], ["12345678"],
            ["1234567", "8"], ["12345678", ""], ["12345678\0"],
        ]
        for list in texts {
            for seed in [0, 1, .max] as [UInt64] {
                var identity = RequestIdentity(seed: seed)
                for text in list { identity.add(Array(text.utf8).span) }
                let (isNew, _) = seen.insert(identity)
                #expect(isNew, "\(list)")
            }
        }
        for number in 0..<200_000 {
            let (isNew, _) = seen.insert(Self.identity(number))
            #expect(isNew)
        }
    }
}
