import Delivery
import PushModel
import TestSupport
import Testing

struct RetryAfterTests {
    /// 2026-11-20T12:00:00Z, a Friday.
    private static let now = Timestamp(milliseconds: 1_795_176_000_000)

    private func wait(_ value: String, now: Timestamp = now) -> Int64? {
        RetryAfter.milliseconds(Array(value.utf8), now: now)
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1000), ("10", 10_000), ("010", 10_000), ("120", 120_000), ("3600", 3_600_000), (" 7 ", 7000),
            ("1.5", 1500), ("0.0001", 1), ("2.", 2000),
        ] as [(String, Int64)])
    func secondsAreRead(value: String, milliseconds: Int64) {
        #expect(wait(value) == milliseconds)
    }

    @Test(arguments: [
        "-1", "-0", "-99999999999999999999", "-1.5", "Fri, 20 Nov 2026 11:59:59 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
    ])
    func thePastMeansNow(value: String) {
        #expect(wait(value) == 0)
    }

    @Test(arguments: [
        "3601", "99999999999999999999", String(repeating: "9", count: 5000), "86400.5", "Sat, 21 Nov 2026 12:00:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ])
    func nothingIsLongerThanAnHour(value: String) {
        #expect(wait(value) == RetryAfter.maximum)
    }

    /// RFC 9110, section 5.6.7: the preferred spelling, that of RFC 850, and that of C's `asctime`.
    @Test(arguments: [
        "Fri, 20 Nov 2026 12:00:30 GMT", "Friday, 20-Nov-26 12:00:30 GMT", "Fri Nov 20 12:00:30 2026",
    ])
    func allThreeDateSpellingsAreRead(value: String) {
        #expect(wait(value) == 30_000)
    }

    @Test func asctimePadsTheDayWithABlank() {
        #expect(wait("Sun Nov  6 08:49:37 1994", now: 784_111_772_000) == 5000)
    }

    @Test(arguments: [("94", 1994), ("76", 1976), ("75", 2075), ("00", 2000), ("26", 2026), ("70", 2070)])
    func twoDigitsAreTheYearThatIsNearest(digits: String, year: Int) {
        let value = "Monday, 31-Dec-\(digits) 23:59:59 GMT"
        #expect(wait(value) == (year > 2025 ? RetryAfter.maximum : 0), "\(year)")
        let fullYear = wait("Mon, 31 Dec \(year) 23:59:59 GMT")
        #expect(wait(value) == fullYear)
    }

    @Test(arguments: [
        "", " ", "soon", "10s", "1e3", "0x10", "+5", "--5", "-", ".", ".5", "1.2.3", "1,5", "5, 5", "5 6", "5-6", "inf", "nan",
        "Infinity", "\u{0663}", "\u{FF15}", "1\u{0}", "Fri, 20 Nov 2026 12:00:30", "Fri, 20 Nov 2026 12:00:30 +0100",
        "Fri, 20 Nov 2026 12:00:30 CET", "Fri, 31 Nov 2026 12:00:00 GMT", "Fri, 20 Nov 2026 24:00:00 GMT",
        "Fri, 20 Nov 2026 12:60:00 GMT", "Fri, 20 Nov 2026 12:00:x:30 GMT", "Fri, 20 Nov 2026 12:00 GMT",
        "Fri, 20 nov 2026 12:00:00 GMT", "Fri, +20 Nov 2026 12:00:00 GMT", "Fri, 00 Nov 2026 12:00:00 GMT",
        "Fri, 20 Nov 126 12:00:00 GMT", "2026-11-20T12:00:30Z", "Fri Nov 20 2026 12:00:30",
    ])
    func whatIsNeitherSecondsNorADateIsNoWait(value: String) {
        #expect(wait(value) == nil)
    }

    @Test func bytesThatAreNoTextAreNoWait() {
        #expect(RetryAfter.milliseconds([0xFF, 0xFE, 0x31] as [UInt8], now: Self.now) == nil)
    }

    @Test(arguments: [.min, -1, 0, .max] as [Int64])
    func anyMomentCanBeNow(now: Int64) throws {
        for value in ["Fri, 20 Nov 2026 12:00:30 GMT", "Friday, 20-Nov-26 12:00:30 GMT", "5"] {
            if let milliseconds = wait(value, now: .at(now)) { #expect((0...RetryAfter.maximum).contains(milliseconds)) }
        }
        #expect(wait("5", now: .at(now)) == 5000)
    }

    @Test(arguments: 0..<20)
    func randomValuesGiveAWaitInRangeOrNoneAndDigitsTheirSeconds(seed: Int) {
        var random = SeededRandom(seed)
        let pieces = ["Fri", ",", " ", "20", "Nov", "-", "26", "2026", "12:00:30", ":", "GMT", "1", ".", "é", "\t", "99999999"]
        for _ in 0..<500 {
            let value = (0..<random.below(10)).map { _ in pieces[random.below(pieces.count)] }.joined()
            let milliseconds = wait(value)
            let word = value.split(separator: " ")
            if word.count == 1, word[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                #expect(milliseconds == Double(word[0]).map { Int64(min($0, 3600)) * 1000 }, "\(value)")
            }
            if let milliseconds { #expect((0...RetryAfter.maximum).contains(milliseconds), "\(value)") }
        }
    }
}
