import Basics
import Testing

@Suite struct MonotonicTimeTests {
    @Test func timesAddWithoutOverflow() {
        let start = MonotonicTime(nanoseconds: 5)
        #expect(start.advanced(by: .milliseconds(2)).nanoseconds == 2_000_005)
        #expect(start.advanced(by: .seconds(Int64.max)) == .never)
        #expect(start.advanced(by: .seconds(Int64.min)) < start)
        #expect(MonotonicTime.never.advanced(byNanoseconds: 1) == .never)
        #expect(start.advanced(by: .microseconds(1)).nanoseconds(since: start) == 1000)
    }
}
