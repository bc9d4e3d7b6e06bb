/// A moment as RFC 3339 in UTC with milliseconds: `2026-11-20T12:00:00.120Z`.
///
/// The next moment takes its place. Whoever keeps one for moments that follow one another asks the calendar only when the second is
/// another than before: that is 250 instructions less for each.
///
/// What lies outside the years 0000–9999 is shown as the nearest moment inside them.
public struct TimestampText: Sendable {
    /// The first and the last moment that RFC 3339 can write, in milliseconds: it has four digits for the year.
    public static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// The characters, ASCII.
    public private(set) var characters = InlineArray<24, UInt8>(repeating: UInt8(ascii: "Z"))
    /// The moment that is shown. Nothing yet when it is no moment that can be.
    private var total = Int64.min
    private var second = Int64.min

    /// Shows no moment yet.
    public init() {}

    /// Shows a moment.
    ///
    /// - Parameter milliseconds: Since 1970-01-01T00:00:00Z, leap seconds not counted. Negative before it.
    public mutating func show(milliseconds: Int64) {
        let total = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
        if total == self.total { return }
        self.total = total
        let second = (total >= 0 ? total : total - 999) / 1000
        if second != self.second { show(second: second) }
        let millisecond = Int(total - second * 1000)
        characters[20] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: millisecond / 100)
        put(millisecond % 100, at: 21)
    }

    private mutating func show(second: Int64) {
        self.second = second
        let days = Int((second >= 0 ? second : second - 86_399) / 86_400)
        let secondOfDay = Int(second) - days * 86_400
        let date = CivilDate(daysFromEpoch: days)
        put(date.year / 100, at: 0)
        put(date.year % 100, at: 2)
        characters[4] = UInt8(ascii: "-")
        put(date.month, at: 5)
        characters[7] = UInt8(ascii: "-")
        put(date.day, at: 8)
        characters[10] = UInt8(ascii: "T")
        put(secondOfDay / 3600, at: 11)
        characters[13] = UInt8(ascii: ":")
        put(secondOfDay / 60 % 60, at: 14)
        characters[16] = UInt8(ascii: ":")
        put(secondOfDay % 60, at: 17)
        characters[19] = UInt8(ascii: ".")
    }

    /// Writes `value`, 0–99, as two digits.
    private mutating func put(_ value: Int, at index: Int) {
        characters[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10)
        characters[index + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
    }
}
