/// Writes a moment as RFC 3339 in UTC with milliseconds: `2026-11-20T12:01:31.000Z`.
enum Timestamp {
    /// The latest moment that has a year of four digits. Later moments are written as this one, earlier than 1970 as 1970.
    private static let latest: Int64 = 253_402_300_799_999

    /// Appends a moment.
    ///
    /// - Parameters:
    ///   - milliseconds: Since 1970-01-01T00:00:00Z, leap seconds not counted.
    ///   - bytes: Grows by 24 bytes.
    static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let moment = min(max(milliseconds, 0), latest)
        let (days, rest) = moment.quotientAndRemainder(dividingBy: 86_400_000)
        let (year, month, day) = date(ofDay: Int(days))
        append(year, digits: 4, separator: "-", to: &bytes)
        append(month, digits: 2, separator: "-", to: &bytes)
        append(day, digits: 2, separator: "T", to: &bytes)
        append(Int(rest) / 3_600_000, digits: 2, separator: ":", to: &bytes)
        append(Int(rest) / 60_000 % 60, digits: 2, separator: ":", to: &bytes)
        append(Int(rest) / 1000 % 60, digits: 2, separator: ".", to: &bytes)
        append(Int(rest) % 1000, digits: 3, separator: "Z", to: &bytes)
    }

    /// Appends a number with leading zeros, and what stands behind it.
    private static func append(_ value: Int, digits: Int, separator: Unicode.Scalar, to bytes: inout [UInt8]) {
        var weight = 1
        for _ in 1..<digits { weight *= 10 }
        while weight > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / weight % 10))
            weight /= 10
        }
        bytes.append(UInt8(ascii: separator))
    }

    /// The Gregorian date of a day counted from 1970-01-01. Years are counted from 1 March, so that a leap day ends its year, in
    /// eras of 400 years, which are all equally long.
    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let (eras, inEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let dayOfYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + eras * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
