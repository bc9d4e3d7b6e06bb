import Foundation
import PushModel
import Testing

@Suite struct TimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("1969-12-31T23:59:59.999Z", -1),
            ("2026-11-20T12:00:00.120Z", 1_795_176_000_120), ("2026-11-20t12:00:00z", 1_795_176_000_000),
            ("2026-11-20T13:30:00+01:30", 1_795_176_000_000), ("2026-11-20T04:00:00-08:00", 1_795_176_000_000),
            ("2026-11-20T12:00:00-00:00", 1_795_176_000_000), ("2026-11-20T12:00:00.1Z", 1_795_176_000_100),
            ("2026-11-20T12:00:00.120999999999999999999999Z", 1_795_176_000_120), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("1985-04-12T23:20:50.52Z", 482_196_050_520),
            ("1990-12-31T23:59:60Z", 662_688_000_000), ("1990-12-31T15:59:60-08:00", 662_688_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("9999-12-31T23:59:59-23:59", 253_402_387_139_000),
            ("0000-01-01T00:00:00+23:59", -62_167_305_540_000), ("2038-01-19T03:14:08Z", 2_147_483_648_000),
        ] as [(String, Int64)])
    func momentsAreReadAsTheyAreWritten(text: String, milliseconds: Int64) {
        #expect(moment(text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-11-20", "2026-11-20T12:00:00", "2026-11-20 12:00:00Z", "2026-11-20T12:00Z", "2026-11-20T12:00:00.Z",
        "2026-11-20T12:00:00,5Z", "2026-11-20T12:00:00Z ", " 2026-11-20T12:00:00Z", "2026-11-20T12:00:00ZZ",
        "2026-00-20T12:00:00Z",
        "2026-13-20T12:00:00Z", "2026-11-00T12:00:00Z", "2026-11-31T12:00:00Z", "2026-02-29T12:00:00Z", "1900-02-29T12:00:00Z",
        "2100-02-29T12:00:00Z", "2024-02-30T12:00:00Z", "2026-01-32T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T12:60:00Z",
        "2026-11-20T12:00:61Z", "2026-11-20T12:00:60Z", "1990-12-31T23:59:60+01:00", "2026-11-20T12:00:00+24:00",
        "2026-11-20T12:00:00+01:60", "2026-11-20T12:00:00+0100", "2026-11-20T12:00:00+1:00", "2026-11-20T12:00:00+01",
        "2026-1-20T12:00:00Z",
        "12026-11-20T12:00:00Z", "-026-11-20T12:00:00Z", "+2026-11-20T12:00:00Z", "2026-11-2\u{0660}T12:00:00Z",
        "2026-11-20T12:00:00",
        "20261120T120000Z", "2026-W47-5T12:00:00Z", "tomorrow", "1795176000", "2026-11-20T12:00:00\u{0}",
    ])
    func whatIsNoMomentIsRefused(text: String) {
        #expect(moment(text) == nil)
    }

    @Test func everyDayOfTenThousandYearsIsCountedRight() {
        var day = -719_528
        var writer = ByteWriter()
        for year in 0...9999 {
            let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
            for (month, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                // The edges of every month, where mistakes are made; all days of some years.
                for date in year % 400 == 100 ? Array(1...length) : [1, length] {
                    let moment = Timestamp(milliseconds: Int64(day + date - 1) * 86_400_000)
                    writer.removeAll()
                    writer.append(wholeSecondsOf: moment)
                    let expected = padded(year, 4) + "-" + padded(month + 1, 2) + "-" + padded(date, 2) + "T00:00:00Z"
                    if writer.text != expected || Timestamp(writer.bytes.span) != moment { Issue.record("\(expected)") }
                }
                day += length
            }
        }
        #expect(day == 2_932_897)
    }

    @Test func randomMomentsAreWrittenAsFoundationWritesThemAndReadBack() {
        var random = SeededRandom(11)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<2000 {
            let moment = Timestamp(milliseconds: Int64.random(in: -11_000_000_000_000...253_402_300_799_999, using: &random))
            var writer = ByteWriter()
            writer.append(moment)
            #expect(Timestamp(writer.bytes.span) == moment)
            writer.removeAll()
            let whole = Timestamp(milliseconds: moment.milliseconds / 1000 * 1000)
            writer.append(whole)
            #expect(writer.text == Date(timeIntervalSince1970: Double(whole.milliseconds / 1000)).formatted(style))
        }
    }

    @Test(arguments: [
        (Int64.min, "0000-01-01T00:00:00.000Z"), (.max, "9999-12-31T23:59:59.999Z"),
        (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"),
        (253_402_300_800_000, "9999-12-31T23:59:59.999Z"), (-1, "1969-12-31T23:59:59.999Z"), (-1001, "1969-12-31T23:59:58.999Z"),
    ])
    func momentsBeyondFourDigitYearsAreWrittenAsTheNearest(milliseconds: Int64, expected: String) {
        var writer = ByteWriter()
        writer.append(Timestamp(milliseconds: milliseconds))
        #expect(writer.text == expected)
    }

    @Test(
        arguments: [
            (0, 1, 1000), (500, -1, -500), (.max, 1, limit), (limit - 999, 1, limit), (limit - 1000, 1, limit),
            (.min, -1, -limit), (0, .max, limit), (0, .min, -limit), (-1, .max, limit), (.min, 2_419_200, -limit + 2_419_200_000),
        ] as [(Int64, Int64, Int64)])
    func addingSecondsStopsAtTheEndOfTime(start: Int64, seconds: Int64, expected: Int64) {
        #expect(Timestamp(milliseconds: start).adding(seconds: seconds).milliseconds == expected)
    }

    private static let limit = Timestamp.limit

    @Test(
        arguments: [
            (.min, -limit), (-limit - 1, -limit), (-limit, -limit), (-1, -1), (0, 0), (limit, limit), (limit + 1, limit),
            (.max, limit),
        ] as [(Int64, Int64)])
    func anAbsurdTimestampIsClamped(milliseconds: Int64, expected: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).milliseconds == expected)
    }

    @Test(arguments: [.min, -1, 0, 1, .max] as [Int64]) func noMomentIsBeforePastOrAfterNever(milliseconds: Int64) {
        let moment = Timestamp(milliseconds: milliseconds)
        #expect(Timestamp.past <= moment && moment <= Timestamp.never)
        #expect((moment == Timestamp.past) == (milliseconds == .min) && (moment == Timestamp.never) == (milliseconds == .max))
    }

    @Test(
        arguments: [
            (0, 1, 1), (500, -501, -1), (.max, 1, limit), (limit - 1, 1, limit), (.min, -1, -limit),
            (.min, .max, limit), (0, .max, limit), (0, .min, -limit), (.max, .min, -limit),
        ] as [(Int64, Int64, Int64)])
    func addingMillisecondsStopsAtTheEndOfTime(start: Int64, span: Int64, expected: Int64) {
        let moment = Timestamp(milliseconds: start).adding(milliseconds: span)
        #expect(moment == Timestamp(milliseconds: expected))
    }

    @Test(arguments: [.min, -62_167_219_200_000, -1, 0, 1, 1_795_176_000_000, 253_402_300_799_999, .max] as [Int64])
    func theTimeBetweenTwoMomentsNeverOverflows(number: Int64) {
        let now = Timestamp(milliseconds: 1_795_176_000_000)
        let moment = Timestamp(milliseconds: number)
        #expect(now.milliseconds(since: moment) == 1_795_176_000_000 - moment.milliseconds)
        #expect(moment.milliseconds(since: now) == -now.milliseconds(since: moment))
        #expect((now.nanoseconds(since: moment) > 0) == (now > moment))
        for other in [Timestamp(milliseconds: .min), Timestamp(milliseconds: .max)] {
            #expect((moment.milliseconds(since: other) < 0) == (moment < other))
            #expect((moment.nanoseconds(since: other) < 0) == (moment < other))
        }
    }

    @Test(
        arguments: [
            (0, 0, 0), (5, 3, 2_000_000), (3, 5, -2_000_000), (9_223_372_036_854, 0, 9_223_372_036_854_000_000),
            (9_223_372_036_855, 0, .max), (0, 9_223_372_036_855, .min), (.max, .min, .max), (.min, .max, .min),
        ] as [(Int64, Int64, Int64)])
    func nanosecondsStopAtTheEndsOf64Bits(moment: Int64, earlier: Int64, expected: Int64) {
        #expect(Timestamp(milliseconds: moment).nanoseconds(since: Timestamp(milliseconds: earlier)) == expected)
    }

    @Test func earlierMomentsAreLess() {
        #expect(Timestamp(milliseconds: -5) < Timestamp(milliseconds: 3))
        #expect(!(Timestamp(milliseconds: 3) < Timestamp(milliseconds: 3)))
    }

    private func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: width - digits.count) + digits
    }
}
