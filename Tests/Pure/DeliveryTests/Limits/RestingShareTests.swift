import Basics
import Delivery
import TestSupport
import Testing

/// Two workers with much to do and one log, in which everything is read by both 10 ms after it was written.
struct RestingShareTests {
    fileprivate static let step: Int64 = 10_000_000
    private static let limit: Int64 = 500_000

    private struct Fleet {
        var workers = [1, 2].map { RateLimit(callsPerSecond: 500, member: $0, now: 0) }
        var now: Int64 = 0
        var length: Int64 = 0
        /// The most that both together could make at any moment, thousandths of a call per second.
        var most: Int64 = 0

        /// Lets time pass; calls of these workers wait for the rate meanwhile.
        mutating func run(milliseconds: Int64, waiting: [Int] = [0, 1]) {
            let end = now + milliseconds * 1_000_000
            while now < end {
                let written = workers.indices.compactMap { workers[$0].announcement(now: .at(now)) }
                now += RestingShareTests.step
                for announcement in written {
                    for index in workers.indices { workers[index].heard(announcement, offset: length, now: .at(now)) }
                    length += 1
                }
                for index in waiting { workers[index].noteWaiting(true, now: .at(now)) }
                most = max(most, workers.reduce(0) { $0 + $1.rate })
            }
        }

        var rates: [Int64] { workers.map(\.rate) }
    }

    @Test func aWorkerWithoutPartitionsLendsItsShareAtOnceAndHasItBackAtOnce() {
        var fleet = Fleet()
        for index in fleet.workers.indices { fleet.workers[index].owns(6, now: .at(fleet.now)) }
        fleet.run(milliseconds: 3000)
        #expect(fleet.rates == [Self.limit / 2, Self.limit / 2])
        fleet.workers[1].noteWaiting(false, now: .at(fleet.now))
        fleet.workers[1].rests(now: .at(fleet.now))
        fleet.run(milliseconds: 50, waiting: [0])
        #expect(fleet.rates[0] > Self.limit * 98 / 100)
        // Longer than demand is remembered.
        fleet.run(milliseconds: 5000, waiting: [0])
        #expect(fleet.rates[0] > Self.limit * 98 / 100 && fleet.rates[1] > 0)
        fleet.workers[1].owns(6, now: .at(fleet.now))
        fleet.run(milliseconds: 100)
        #expect(fleet.rates == [Self.limit / 2, Self.limit / 2])
        #expect(fleet.most <= Self.limit)
    }

    @Test func aWorkerThatRestsForAMomentOnlyClaimsAllThatItHadUseFor() {
        var fleet = Fleet()
        for index in fleet.workers.indices { fleet.workers[index].owns(6, now: .at(fleet.now)) }
        fleet.run(milliseconds: 3000)
        for index in fleet.workers.indices {
            fleet.workers[index].noteWaiting(false, now: .at(fleet.now))
            fleet.workers[index].rests(now: .at(fleet.now))
        }
        fleet.run(milliseconds: 30, waiting: [])
        fleet.workers[0].owns(8, now: .at(fleet.now))
        fleet.workers[1].owns(4, now: .at(fleet.now))
        // Nothing waits yet: what it asks for comes from what it did before.
        fleet.run(milliseconds: 100, waiting: [])
        #expect(fleet.rates[0] == Self.limit * 666_666 / 1_000_000)
        #expect(fleet.rates[1] == Self.limit * 333_333 / 1_000_000)
        #expect(fleet.most <= Self.limit)
    }
}
