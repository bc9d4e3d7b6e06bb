import PushModel
import Testing

@testable import WorkerRuntime

@Suite struct SightTests {
    private static func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    /// Silence in seconds, the moment of the last begin, whether there are partitions, and whether the loop is blind then.
    @Test(
        arguments: [
            // A start.
            [(0, 0, false, true), (3, 0, false, true), (0, 7, true, false), (4, 7, true, false)],
            // Nothing was for this member.
            [(0, 7, false, false), (0, 7, false, false)],
            // An outage within a session.
            [(0, 7, true, false), (5, 7, true, true), (90, 7, true, true), (0, 7, true, false)],
            // One that takes the partitions away, and their return, or that of none.
            [(0, 7, true, false), (5, 7, true, true), (20, 7, false, true), (0, 7, false, true), (0, 30, true, false)],
            [(0, 7, true, false), (20, 7, false, true), (0, 7, false, true), (0, 30, false, false)],
            // A rebalance while brokers answer.
            [(0, 7, true, false), (0, 7, false, false), (1, 9, true, false)],
        ] as [[(Int, Int64, Bool, Bool)]])
    func aLoopIsBlindWhileBrokersAreSilentAndUntilPartitionsBegin(steps: [(Int, Int64, Bool, Bool)]) {
        var sight = Sight()
        #expect(sight.isBlind)
        for (silence, begun, ownsPartitions, isBlind) in steps {
            sight.note(silence: .seconds(silence), begunAt: Self.at(begun), ownsPartitions: ownsPartitions)
            #expect(sight.isBlind == isBlind, "\(silence) \(begun) \(ownsPartitions)")
        }
    }

    /// Now, since when the oldest waits that is seen, whether the loop is blind, and the seconds that it says.
    @Test(
        arguments: [
            // A wait of 0 is not known any more, and is there again.
            [(10, 10, false, 0), (11, 11, true, nil), (12, 12, true, nil), (13, 13, false, 0)],
            // One of 5 s grows, though what waited is not seen any more, and ends with the silence.
            [(10, 5, false, 5), (11, 11, true, 6), (60, 60, true, 55), (61, 61, false, 0)],
            // What is seen later than the oldest does not hide it, and what is older counts.
            [(10, 5, false, 5), (20, 18, true, 15), (21, 2, true, 19), (22, 22, true, 20)],
            // Something that is seen first while brokers are silent.
            [(10, 10, true, nil), (20, 14, true, 6), (30, 30, true, 16)],
            // What is due later does not wait.
            [(10, 99, false, 0), (11, 99, true, nil)],
        ] as [[(Int64, Int64, Bool, Double?)]])
    func whatWaitedWaitsOnAndNothingIsSaidOfTheRest(steps: [(Int64, Int64, Bool, Double?)]) {
        var wait = KnownWait()
        for (now, since, isBlind, expected) in steps {
            #expect(wait.seconds(since: Self.at(since), isBlind: isBlind, now: Self.at(now)) == expected, "\(now)")
        }
    }
}
