import Basics
import Delivery
import TestSupport
import Testing

/// Two workers with a log that cannot be read for a while.
struct FleetSilenceTests {
    fileprivate static let step: Int64 = 10_000_000
    fileprivate static let second: Int64 = 1_000_000_000
    private static let limit: Int64 = 500_000

    private struct Fleet {
        var workers = [1, 2].map { RateLimit(callsPerSecond: 500, member: $0, now: 0) }
        var now: Int64 = 0
        var length: Int64 = 0
        /// The most that both together could make at any moment, thousandths of a call per second.
        var most: Int64 = 0

        /// Workers that own 6 of 12 partitions each.
        init(areCounted: Bool = true) {
            for index in workers.indices {
                if areCounted { workers[index].counted(12, now: .at(now)) }
                workers[index].owns(6, now: .at(now))
            }
        }

        /// Lets time pass; calls wait for the rate meanwhile.
        mutating func run(seconds: Int64, canRead: Bool) {
            let end = now + seconds * FleetSilenceTests.second
            while now < end {
                let written = workers.indices.compactMap { workers[$0].announcement(now: .at(now)) }
                now += FleetSilenceTests.step
                for announcement in written where canRead {
                    for index in workers.indices { workers[index].heard(announcement, offset: length, now: .at(now)) }
                    length += 1
                }
                for index in workers.indices {
                    workers[index].timePassed(now: .at(now))
                    workers[index].noteWaiting(true, now: .at(now))
                }
                most = max(most, workers.reduce(0) { $0 + $1.rate })
            }
        }

        var rates: [Int64] { workers.map(\.rate) }
    }

    @Test func aLogThatCannotBeReadHoldsUpNobodyForLong() {
        var fleet = Fleet()
        fleet.run(seconds: 3, canRead: true)
        #expect(fleet.rates == [Self.limit / 2, Self.limit / 2])
        fleet.run(seconds: 2, canRead: false)
        #expect(fleet.rates == [0, 0])
        fleet.run(seconds: 8, canRead: false)
        #expect(fleet.rates == [0, 0] && !fleet.workers[0].goesWithoutFleet)
        fleet.run(seconds: 3, canRead: false)
        #expect(fleet.rates == [Self.limit / 2, Self.limit / 2])
        #expect(fleet.workers.map(\.goesWithoutFleet) == [true, true])
        fleet.run(seconds: 5, canRead: true)
        #expect(fleet.rates == [Self.limit / 2, Self.limit / 2])
        #expect(fleet.workers.map(\.goesWithoutFleet) == [false, false])
        #expect(fleet.most <= Self.limit)
    }

    /// The log was never read.
    @Test(arguments: [true, false]) func onlyWhereThePartitionsAreCountedThereIsAShare(areCounted: Bool) {
        var fleet = Fleet(areCounted: areCounted)
        fleet.run(seconds: 20, canRead: false)
        #expect(fleet.rates == (areCounted ? [Self.limit / 2, Self.limit / 2] : [0, 0]))
        #expect(fleet.workers[0].goesWithoutFleet == areCounted)
    }

    @Test func aProcessThatStoodStillWaitsForItsShare() {
        var fleet = Fleet()
        fleet.run(seconds: 3, canRead: true)
        fleet.now += 60 * Self.second
        fleet.run(seconds: 5, canRead: false)
        #expect(fleet.rates == [0, 0])
        fleet.run(seconds: 3, canRead: true)
        #expect(fleet.rates == [Self.limit / 2, Self.limit / 2])
    }

    @Test func whoOwnsNothingLacksNothing() {
        var limit = RateLimit(callsPerSecond: 500, member: 1, now: 0)
        limit.counted(12, now: 0)
        for second in 0..<60 { limit.timePassed(now: .at(Int64(second) * Self.second)) }
        #expect(!limit.goesWithoutFleet && limit.rate == 0)
    }
}
