import Basics

/// Writes a moment as RFC 3339 in UTC with milliseconds: `2026-11-20T12:01:31.000Z`.
enum Timestamp {
    /// The latest moment that has a year of four digits. Later moments are written as this one, earlier than 1970 as 1970.
    private static let latest: Int64 = 253_402_300_799_999

    /// Appends the 24 bytes of a time in milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let moment = min(max(milliseconds, 0), latest)
        let (days, rest) = moment.quotientAndRemainder(dividingBy: 86_400_000)
        let date = CivilDate(daysFromEpoch: Int(days))
        append(date.year, digits: 4, separator: "-", to: &bytes)
        append(date.month, digits: 2, separator: "-", to: &bytes)
        append(date.day, digits: 2, separator: "T", to: &bytes)
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
}
