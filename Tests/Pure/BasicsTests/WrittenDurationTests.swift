import Basics
import Testing

struct WrittenDurationTests {
    private static let durations: [(String, Duration?)] = [
        ("200ms", .milliseconds(200)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("1h", .seconds(3600)), ("0s", .zero),
        ("10", nil), ("s", nil), ("1.5s", nil), ("-1s", nil), ("1 s", nil), ("1S", nil), ("1d", nil), ("", nil), ("٣s", nil),
        ("99999999999999999999s", nil), ("9223372036854775807h", nil), ("1ss", nil),
    ]

    @Test(arguments: durations) func aDurationIsAWholeNumberWithAUnit(_ text: String, _ duration: Duration?) {
        #expect(WrittenDuration(text)?.duration == duration)
    }

    @Test(arguments: [("1500ms", "1500ms"), ("60s", "1m"), ("3600s", "1h"), ("90m", "90m"), ("0ms", "0s"), ("1000ms", "1s")])
    func aDurationIsShownInItsLargestWholeUnit(_ text: String, _ shown: String) throws {
        #expect(WrittenDuration.text(try #require(WrittenDuration(text)).duration) == shown)
    }
}
