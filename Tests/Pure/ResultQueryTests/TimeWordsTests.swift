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

    /// Noon in UTC is 13:00 in Berlin.
    @Test(arguments: [
        ("14:05", "20T13:05", "21T13:05"), ("13:00", "21T12:00", "22T12:00"), ("9:00", "21T08:00", "22T08:00"),
        ("today", "20T23:00", "20T23:00"), ("Yesterday 9:00", "20T08:00", "20T08:00"), ("2026-11-18", "17T23:00", "17T23:00"),
        ("2026-11-18 14:05", "18T13:05", "18T13:05"), ("2026-11-18T14:05", "18T13:05", "18T13:05"),
        ("2026-11-18T14:05Z", "18T14:05", "18T14:05"), ("2026-11-18T14:05:00+02:00", "18T12:05", "18T12:05"),
        ("now", "21T12:00", "21T12:00"), ("90m", "21T10:30", "21T13:30"), ("today 24:00", "21T23:00", "21T23:00"),
    ])
    func peopleWriteTimesOfTheirZone(text: String, past: String, future: String) {
        #expect(TimeWords.moment(text, now: noon, isPast: true, zone: berlin) == Self.moment(past))
        #expect(TimeWords.moment(text, now: noon, isPast: false, zone: berlin) == Self.moment(future))
    }

    @Test(arguments: [
        "", " ", "tomorrow", "25:00", "24:01", "9:60", "9:5", "9", "009:00", "2026-02-29", "2026-11-18 25:00", "9:00 9:00",
        "9:00..10:00",
        "yesterday 9:00..10:00", "9:00 1h", "today today", "2026-11-18T", "2026-11-18 9:00Z", "now 9:00", "9:00\u{301}",
        String(repeating: "9", count: 500),
    ])
    func whatIsNoSingleTimeIsRefused(text: String) {
        #expect(TimeWords.moment(text, now: noon, isPast: true, zone: berlin) == nil)
    }

    private static func moment(_ text: String) -> Timestamp? { Timestamp(Array("2026-11-\(text):00Z".utf8).span) }
}
