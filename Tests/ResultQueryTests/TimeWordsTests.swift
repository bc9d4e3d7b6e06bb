import PushModel
import Testing

@testable import ResultQuery

@Suite struct TimeWordsTests {
    @Test(arguments: [
        ("1h", -3_600_000 as Int64), ("now", 0), ("2026-11-21T12:00:00Z", 0), ("2026-11-21T13:00:00+02:00", -3_600_000),
        ("2026-11-21T12:00Z", 0), ("2026-11-21T12:00-01:00", 3_600_000), ("2026-11-21", -43_200_000), ("1d12h", -129_600_000),
        ("2026-11-21t12:00:00.25z", 250),
    ])
    func momentsAreReadAgainstTheClock(text: String, difference: Int64) {
        #expect(TimeWords.moment(text, now: noon, isPast: true)?.milliseconds == noon + difference)
    }

    @Test func lengthsCountForwardToo() {
        #expect(TimeWords.moment("10m", now: noon, isPast: false)?.milliseconds == noon + 600_000)
        #expect(TimeWords.moment("1h", now: .max, isPast: false) == nil)
        #expect(TimeWords.moment("1h", now: .min, isPast: true) == nil)
    }

    @Test(arguments: [
        "", "yesterday", "2026", "2026-11", "2026-02-30", "2026-11-21T", "2026-11-21T12", "2026-11-21T12:00", "2026-11-21 12:00Z",
        "2026-11-21T24:00Z", "12:00", "-1h", "1h ", "2026-11-21T12:00:00", "2026-11-21T12:00Zx",
    ])
    func whatIsNoMomentIsRefused(text: String) {
        #expect(TimeWords.moment(text, now: noon, isPast: true) == nil)
    }
}
