public import PushModel

/// Lengths of time and moments as people type them.
public enum TimeWords {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads `250ms`, `30s`, `15m`, `1h`, `7d`, or several in a row such as `1h30m`.
    ///
    /// - Parameter text: What was typed.
    /// - Returns: Milliseconds; nil for anything else, and for what has no room in a `Duration`.
    public static func milliseconds(_ text: String) -> Int64? {
        var rest = text[...]
        var total: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let suffix = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            guard let count = Int64(digits), let unit = units.first(where: { $0.suffix == suffix }) else { return nil }
            let (part, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
            let (sum, carry) = total.addingReportingOverflow(part)
            guard !overflow, !carry, sum < Int64.max / 1_000_000 else { return nil }
            total = sum
            rest = rest.dropFirst(digits.count + suffix.count)
        }
        return total
    }

    /// Reads `now`, RFC 3339 with or without seconds (`2026-11-21T10:00Z`), a day (`2026-11-21`, its beginning in UTC), or a length of time.
    ///
    /// - Parameters:
    ///   - text: What was typed.
    ///   - now: Milliseconds since 1970.
    ///   - isPast: A length of time counts back from `now`, rather than forward.
    /// - Returns: The moment; nil for anything else.
    public static func moment(_ text: String, now: Int64, isPast: Bool) -> Timestamp? {
        if text == "now" { return Timestamp(milliseconds: now) }
        if let moment = Timestamp(whole(Array(text.utf8)).span) { return moment }
        guard let length = milliseconds(text) else { return nil }
        let (moment, overflow) = isPast ? now.subtractingReportingOverflow(length) : now.addingReportingOverflow(length)
        return overflow ? nil : Timestamp(milliseconds: moment)
    }

    /// Reads a moment as people write it: what the other function reads, `14:05`, `today`, `yesterday 9:00`, and days and date-times without a
    /// zone (`2026-11-28`, `2026-11-28 14:05`, `2026-11-28T14:05`). A day is its beginning.
    ///
    /// - Parameters:
    ///   - text: The text that was typed.
    ///   - now: Milliseconds since 1970.
    ///   - isPast: A length of time counts back from `now`, and a time of day is the last one rather than the next.
    ///   - zone: The zone of times that name none.
    /// - Returns: The moment, or nil for anything else.
    public static func moment(_ text: String, now: Int64, isPast: Bool, zone: LocalZone) -> Timestamp? {
        guard text.utf8.count <= TimeReader.longestToken * 2 else { return nil }
        let reader = TimeReader(now: now, zone: zone, isPast: isPast)
        let tokens = text.unicodeScalars.split { $0.properties.isWhitespace }.map { Array(String($0).utf8) }
        do throws(TimeReader.Fault) {
            guard let read = try reader.moment(tokens) else { return moment(text, now: now, isPast: isPast) }
            return read.tokenCount == tokens.count ? Timestamp(milliseconds: read.moment) : nil
        } catch {
            return nil
        }
    }

    /// The date-time with what may be left out: midnight in UTC behind a day, seconds behind a minute.
    static func whole(_ text: [UInt8]) -> [UInt8] {
        let day = 10
        let minute = 16
        if text.count == day { return text + Array("T00:00:00Z".utf8) }
        guard text.count > minute, text[minute] != UInt8(ascii: ":") else { return text }
        return text[..<minute] + Array(":00".utf8) + text[minute...]
    }
}
