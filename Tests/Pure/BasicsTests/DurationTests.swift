import Basics
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            (.zero, 0, 0), (.nanoseconds(1_999_999), 1, 1_999_999), (.milliseconds(1500), 1500, 1_500_000_000),
            (.nanoseconds(-1_999_999), -1, -1_999_999), (.seconds(Int64.max), .max, .max), (.seconds(Int64.min), .min, .min),
            (.seconds(9_223_372_037), 9_223_372_037_000, .max),
        ] as [(Duration, Int64, Int64)])
    func aDurationIsCountedInWholeUnitsAsFarAs64BitsGo(duration: Duration, milliseconds: Int64, nanoseconds: Int64) {
        #expect(duration.wholeMilliseconds == milliseconds)
        #expect(duration.wholeNanoseconds == nanoseconds)
    }

    @Test(
        arguments: [
            (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(7), 7), (.nanoseconds(7_000_001), 8), (.seconds(-1), 0),
            (.nanoseconds(-1), 0), (.milliseconds(2_147_483_647), .max), (.seconds(2_147_484), .max), (.seconds(Int64.max), .max),
        ] as [(Duration, Int32)])
    func aTimeoutIsRoundedUpAndNeverNegative(duration: Duration, milliseconds: Int32) {
        #expect(duration.timeoutMilliseconds == milliseconds)
    }
}
