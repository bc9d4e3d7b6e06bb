import Basics

/// A moment as milliseconds since 1970-01-01T00:00:00Z, written and read as RFC 3339.
///
/// Many moments come from outside, where anybody can write any number. So none is further from the epoch than `limit`, and the time between
/// two of them always fits 64 bits. What is counted with moments is counted by the functions here, and `.ci/check` sees to that.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// The greatest distance of a moment from the epoch, in milliseconds: 285,000 years.
    public static let limit: Int64 = 1 << 53

    /// The earliest moment that there is. Stands for "at once".
    public static var past: Timestamp { Timestamp(milliseconds: -limit) }

    /// The latest moment that there is. Stands for "not at all".
    public static var never: Timestamp { Timestamp(milliseconds: limit) }

    /// Milliseconds since the epoch, `-limit` – `limit`. Negative before it.
    public let milliseconds: Int64

    /// The moment `milliseconds` after the epoch, or the nearest that there is.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, -Self.limit), Self.limit)
    }

    /// Reads an RFC 3339 date-time (`2026-11-20T12:00:00.120Z`, any offset, any number of fraction digits).
    ///
    /// A leap second (`23:59:60` UTC) counts as the second after it. Returns nil for anything else, impossible dates included.
    public init?(_ text: Span<UInt8>) {
        var scanner = Scanner(text: text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), scanner.skip("T", or: "t"), let hour = scanner.digits(2), scanner.skip(":"),
            let minute = scanner.digits(2), scanner.skip(":"), let second = scanner.digits(2),
            let fraction = scanner.fractionInMilliseconds(), let offset = scanner.offsetInMinutes(), scanner.isAtEnd,
            (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, of: year), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        let minutes = CivilDate(year: year, month: month, day: day).daysFromEpoch * 1440 + hour * 60 + minute - offset
        // Leap seconds are put at the end of a day in UTC only (RFC 3339, appendix D).
        if second == 60 && (minutes + 1) % 1440 != 0 { return nil }
        milliseconds = Int64(minutes * 60 + second) * 1000 + Int64(fraction)
    }

    /// The earlier moment is the lesser one.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `seconds` later, or the nearest that there is.
    public func adding(seconds: Int64) -> Timestamp {
        let (span, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return adding(milliseconds: isTooLong ? (seconds < 0 ? .min : .max) : span)
    }

    /// The moment `span` milliseconds later, or the nearest that there is.
    public func adding(milliseconds span: Int64) -> Timestamp {
        Timestamp(milliseconds: milliseconds.addingSaturated(span))
    }

    /// The time from `earlier` to this moment in milliseconds. Negative when `earlier` is later.
    public func milliseconds(since earlier: Timestamp) -> Int64 { milliseconds - earlier.milliseconds }

    /// The time from `earlier` to this moment in nanoseconds, of which 64 bits hold 292 years. More is the most that they hold.
    public func nanoseconds(since earlier: Timestamp) -> Int64 {
        let span = milliseconds(since: earlier)
        let (nanoseconds, isTooLong) = span.multipliedReportingOverflow(by: 1_000_000)
        return isTooLong ? (span < 0 ? .min : .max) : nanoseconds
    }
}

/// Reads fixed-width decimal fields from left to right.
private struct Scanner: ~Escapable {
    let text: Span<UInt8>
    var index = 0

    @_lifetime(copy text) init(text: Span<UInt8>) { self.text = text }

    var isAtEnd: Bool { index == text.count }

    @_lifetime(self: copy self) mutating func skip(_ first: Unicode.Scalar, or second: Unicode.Scalar? = nil) -> Bool {
        guard index < text.count else { return false }
        let byte = UInt32(text[index])
        guard byte == first.value || byte == second?.value else { return false }
        index += 1
        return true
    }

    @_lifetime(self: copy self) mutating func digits(_ count: Int) -> Int? {
        guard index + count <= text.count else { return nil }
        var value = 0
        for position in index..<(index + count) {
            let digit = text[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        index += count
        return value
    }

    @_lifetime(self: copy self) mutating func fractionInMilliseconds() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var weight = 100
        let start = index
        while let digit = digits(1) {
            value += digit * weight
            weight /= 10
        }
        return index > start ? value : nil
    }

    @_lifetime(self: copy self) mutating func offsetInMinutes() -> Int? {
        if skip("Z", or: "z") { return 0 }
        guard index < text.count else { return nil }
        let isWest = text[index] == UInt8(ascii: "-")
        guard skip("+", or: "-"), let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24, minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
