import Basics
import TestSupport
import Testing

@testable import Users

@Suite struct FailuresTests {
    @Test(
        arguments: [
            (0, 0), (3, 0), (4, 1), (5, 2), (6, 4), (12, 256), (13, 300), (14, 300), (5000, 300),
        ] as [(Int, Int64)])
    func waitsDoubleAfterThoseThatCostNothing(count: Int, seconds: Int64) {
        var failures = Failures()
        for _ in 0..<count { failures.add(at: second(5)) }
        #expect(failures.wait(after: 3, at: second(5)) == seconds * 1000)
        #expect(failures.wait(after: 3, longest: 2, at: second(5)) == min(seconds, 2) * 1000)
        #expect(failures.wait(after: 3, at: second(5 + seconds)) == 0)
        if seconds > 0 { #expect(failures.wait(after: 3, at: second(5 + seconds).advanced(byNanoseconds: -1)) == 1) }
    }

    @Test func failuresCountUntilAnHourHasNone() {
        var failures = Failures()
        for minute in 0..<10 as Range<Int64> { failures.add(at: second(minute * 3000)) }
        #expect(failures.count(at: second(27_000 + 3599)) == 10)
        #expect(failures.count(at: second(27_000 + 3600)) == 0)
        failures.add(at: second(27_000 + 3600))
        #expect(failures.count(at: second(27_000 + 3600)) == 1)
    }

    @Test func aCrowdThatFailsOnceFreesNoKeyThatFailedMore() {
        var table = FailureTable()
        for _ in 0..<20 { table.add(7 << 40, at: second(0)) }
        for key in 1...100_000 as ClosedRange<UInt64> { table.add(key &* 0x9E37_79B9_7F4A_7C15, at: second(1)) }
        #expect(table[7 << 40].count(at: second(2)) == 20)
        #expect(table[9].count(at: second(2)) == 0)
    }

    /// All keys are of one set, which has fewer places.
    @Test(arguments: [1, 2, 3]) func aKeyThatComesBackHasNoFewerThanItHad(seed: Int) {
        var random = SeededRandom(seed)
        var table = FailureTable()
        var truth: [UInt64: Int] = [:]
        for step in 0..<Int64(2000) {
            let key = UInt64(1 + random.below(20)) << 32
            truth[key, default: 0] += 1
            table.add(key, at: second(step))
            #expect(table[key].count(at: second(step)) >= truth[key, default: 0])
        }
    }
}
