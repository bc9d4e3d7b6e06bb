import PushModel
import TestSupport
import Testing

@testable import Results

/// Signs of trouble become incidents that begin, go on and end.
@Suite struct IncidentTallyTests {
    /// A gateway that looks once a second, and the records that it and others write.
    private struct Watcher {
        static let start: Int64 = 1_795_262_400_000
        static let hub = IncidentSign.Subject(.hubThrottled, of: "shop")

        var tally = IncidentTally()
        var list: IncidentList? = IncidentList()
        /// The wall clock, which may jump.
        var wall = start
        var phases: [IncidentTally.Phase] = []

        /// Looks once for each second of some.
        mutating func run(_ seconds: Int, isTroubled: Bool, waiting: Int = 0, failed: Int = 0, expired: Int = 0) {
            for _ in 0..<seconds {
                wall += 1000
                var look = IncidentTally.Sample(wall: wall, passed: 1000)
                (look.failed, look.expired) = (failed, expired)
                take(isTroubled ? [IncidentSign(Self.hub, waiting: waiting)] : [], look)
            }
        }

        mutating func take(_ troubles: [IncidentSign], _ look: IncidentTally.Sample) {
            for (incident, phase) in tally.take(troubles, at: look, known: list) {
                phases.append(phase)
                list?.take(incident, now: wall)
            }
        }

        var incidents: [Incident] { list?.incidents() ?? [] }
    }

    /// Seconds of trouble and of quiet in turn, and the lengths in seconds of the incidents that they make, the oldest first.
    @Test(
        arguments: [
            ([5], []), ([6], [5]), ([720], [719]), ([3, 5, 3], [10]), ([3, 11, 3], []), ([3, 5, 2, 5, 2, 100], [16]),
            ([20, 59, 20], [98]), ([20, 60, 20], [19, 19]), ([20, 300, 4, 300, 20], [19, 19]),
            ([Int](repeating: 7, count: 101), [706]),
        ] as [([Int], [Int64])])
    func troubleOfAFewSecondsIsNoneAndWhatComesAndGoesIsOne(turns: [Int], lengths: [Int64]) {
        var watcher = Watcher()
        for (place, seconds) in turns.enumerated() { watcher.run(seconds, isTroubled: place % 2 == 0) }
        watcher.run(100, isTroubled: false)
        #expect(watcher.incidents.reversed().map { $0.lasted / 1000 } == lengths)
        #expect(watcher.incidents.allSatisfy { $0.isOver && !$0.lasts(at: watcher.wall) })
        #expect(watcher.phases.count { $0 == .began } == lengths.count && watcher.phases.count { $0 == .ended } == lengths.count)
    }

    @Test func whatBecameOfRequestsIsCountedFromTheFirstSign() throws {
        var watcher = Watcher()
        watcher.run(1, isTroubled: false, failed: 7, expired: 7)
        watcher.run(1, isTroubled: true, waiting: 4)
        watcher.run(9, isTroubled: true, waiting: 340, failed: 2, expired: 1)
        watcher.run(1, isTroubled: true, waiting: 3)
        let incident = try #require(watcher.incidents.first)
        #expect(incident.lasts(at: watcher.wall) && incident.from == Watcher.start + 2000)
        #expect((incident.failed, incident.expired, incident.waited) == (18, 9, 340))
    }

    @Test func ofATenantTheBacklogOfAllDoesNotWait() {
        for (kind, waited) in [(Incident.Kind.tenantLimited, 3), (.sourceLimited, 3), (.hubDown, 900), (.kafkaAway, 900)] {
            var watcher = Watcher()
            for _ in 0..<9 {
                watcher.wall += 1000
                var look = IncidentTally.Sample(wall: watcher.wall, passed: 1000)
                look.backlog = 900
                watcher.take(
                    [IncidentSign(.init(kind, of: "x"), waiting: 1), IncidentSign(.init(kind, of: "x"), waiting: 2)], look)
            }
            #expect(watcher.incidents.map(\.waited) == [waited], "\(kind)")
        }
    }

    @Test(arguments: [1, 20, 170]) func aGatewayThatStartsAgainGoesOnWithIt(seconds: Int64) throws {
        var watcher = Watcher()
        watcher.run(100, isTroubled: true, waiting: 9, failed: 1)
        let before = try #require(watcher.incidents.first)
        watcher.tally = IncidentTally()
        watcher.wall += seconds * 1000
        watcher.run(100, isTroubled: true, waiting: 5, failed: 1)
        let after = try #require(watcher.incidents.first)
        #expect(watcher.incidents.count == 1 && after.id == before.id && after.from == before.from)
        #expect(after.lasted == watcher.wall - after.from && after.waited == 9)
        #expect(after.failed == before.failed + 99, "the first look of a gateway counts nothing")
        #expect(watcher.phases.count { $0 == .began } == 1)
    }

    @Test func whatNobodyHasWatchedForLongIsOverAndAnotherBegins() {
        var watcher = Watcher()
        watcher.run(100, isTroubled: true)
        watcher.tally = IncidentTally()
        watcher.wall += 600_000
        #expect(watcher.incidents.allSatisfy { !$0.lasts(at: watcher.wall) })
        watcher.run(100, isTroubled: true)
        #expect(watcher.incidents.map { $0.lasted / 1000 } == [99, 99])
        // A process that was stopped for so long has not looked either.
        watcher.wall += 600_000
        watcher.take([IncidentSign(Watcher.hub)], .init(wall: watcher.wall, passed: 600_000))
        watcher.run(100, isTroubled: true)
        #expect(watcher.incidents.map { $0.lasted / 1000 } == [100, 99, 99])
    }

    /// One that starts a second later, or sees it in another minute, writes of the same incident.
    @Test(arguments: [0, 1, 30, 61, 200]) func twoGatewaysThatSeeTheSameWriteOne(late: Int) throws {
        var (one, other) = (Watcher(), Watcher())
        one.run(late, isTroubled: true)
        other.wall = one.wall
        if late > 0 { other.list = nil }
        var all = IncidentList()
        for _ in 0..<300 {
            one.run(1, isTroubled: true)
            other.run(1, isTroubled: true)
            // The later one has not read the topic yet.
            if other.list == nil, one.wall - Watcher.start > 20_000 { other.list = IncidentList() }
            for incident in one.incidents + other.incidents { all.take(incident, now: one.wall) }
        }
        let incident = try #require(all.incidents().first)
        #expect(all.count == 1 && incident.from == Watcher.start + 1000, "the one that has watched most of it counts")
        #expect(incident.lasted == one.wall - incident.from)
    }

    @Test func beforeTheTopicIsReadOnlyKafkasTroubleBegins() {
        var watcher = Watcher()
        watcher.list = nil
        watcher.run(100, isTroubled: true)
        #expect(watcher.phases.isEmpty)
        for _ in 0..<6 {
            watcher.wall += 1000
            watcher.take([IncidentSign(.init(.kafkaAway)), IncidentSign(Watcher.hub)], .init(wall: watcher.wall, passed: 1000))
        }
        #expect(watcher.phases == [.began])
        watcher.list = IncidentList()
        watcher.run(1, isTroubled: true)
        #expect(watcher.phases.count { $0 == .began } == 2, "it had been there for long enough")
    }

    @Test(arguments: [-3, 3] as [Int64]) func aClockThatJumpsMakesNoIncidentOfDays(days: Int64) throws {
        var watcher = Watcher()
        watcher.run(60, isTroubled: true)
        watcher.wall += days * 86_400_000
        watcher.run(60, isTroubled: true)
        let incident = try #require(watcher.incidents.max { $0.watched < $1.watched })
        #expect(incident.lasted == 119_000 && incident.lasts(at: watcher.wall) && incident.end == watcher.wall)
        #expect(watcher.incidents.count == 1)
    }

    /// Trouble that comes and goes at random, by seeds: no second of a lasting trouble is left out, and no two incidents are near each other.
    @Test(arguments: 0..<40) func noTroubleIsLostAndNoneIsToldTwice(seed: Int) {
        var generator = SeededRandom(seed)
        var watcher = Watcher()
        var seconds: [Bool] = []
        while seconds.count < 5000 {
            let length = Int.random(in: 1...(Bool.random(using: &generator) ? 8 : 150), using: &generator)
            let isTroubled = Bool.random(using: &generator)
            seconds += [Bool](repeating: isTroubled, count: length)
            watcher.run(length, isTroubled: isTroubled)
            if Int.random(in: 0..<20, using: &generator) == 0 { watcher.tally = IncidentTally() }
        }
        let found = Array(watcher.incidents.reversed())
        for (one, next) in zip(found, found.dropFirst()) {
            #expect(next.from - one.end >= IncidentTally.ending, "seed \(seed)")
        }
        for incident in found {
            let (first, last) = (place(of: incident.from), place(of: incident.end))
            #expect(seconds[first] && seconds[last], "seed \(seed)")
            #expect(seconds[first...last].count { $0 } > 5, "seed \(seed)")
        }
        // A gateway that starts again in the middle of the first seconds begins to count anew, so runs of 12 s are always seen.
        var run = 0
        for (second, isTroubled) in seconds.enumerated() {
            run = isTroubled ? run + 1 : 0
            guard run >= 12 else { continue }
            let moment = Watcher.start + Int64(second + 1) * 1000
            #expect(found.contains { $0.from <= moment && moment <= $0.end }, "seed \(seed), second \(second)")
        }
    }

    private func place(of moment: Int64) -> Int { Int((moment - Watcher.start) / 1000) - 1 }

    @Test func namesWithoutEndHaveNoRoomWithoutEnd() {
        var watcher = Watcher()
        for second in 0..<20 {
            watcher.wall += 1000
            let troubles =
                (0..<2000).map { IncidentSign(.init(.hubDown, of: "h\($0 + 1000 * second)")) } + [IncidentSign(.init(.kafkaAway))]
            watcher.take(troubles, .init(wall: watcher.wall, passed: 1000))
        }
        #expect(watcher.list.map { $0.count <= IncidentTally.capacity } == true)
    }

    @Test(arguments: [Int64.max, .min, -1, 0]) func numbersOfAnyKindDoNoHarm(number: Int64) {
        var watcher = Watcher()
        for _ in 0..<20 {
            watcher.wall += 1000
            var look = IncidentTally.Sample(wall: watcher.wall, passed: number)
            (look.failed, look.expired, look.backlog) = (.max, .max, .max)
            watcher.take([IncidentSign(Watcher.hub, waiting: .max)], look)
            watcher.run(7, isTroubled: true, waiting: .max, failed: .max)
        }
        #expect(watcher.incidents.allSatisfy { $0.lasted >= 0 && $0.failed >= 0 })
    }
}
