import Basics
import PushModel

/// A moment in the spellings that a hub uses.
package struct Moment: Sendable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64
    /// `2026-11-20T12:00:00.120Z` as bytes. Every other spelling takes its digits from there.
    private let digits: [UInt8]

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
        var writer = ByteWriter(capacity: 24)
        writer.append(Timestamp(milliseconds: milliseconds))
        digits = writer.bytes
    }

    /// Reads a date-time. Without a zone it is UTC, as .NET and Java write schedule times.
    package init?(reading text: String) {
        let bytes = Array(text.utf8)
        if let time = Timestamp(bytes.span) ?? Timestamp((bytes + [UInt8(ascii: "Z")]).span) {
            self.init(milliseconds: time.milliseconds)
        } else {
            return nil
        }
    }

    /// RFC 3339 in UTC with milliseconds.
    package var rfc3339: String { String(decoding: digits, as: UTF8.self) }

    /// As .NET writes a date and time in XML: no fraction of a second, or seven digits of it.
    package var dotNet: String { text(20..<23) == "000" ? text(0..<19) + "Z" : text(0..<23) + "0000Z" }

    /// `yyyyMMddHHmmss`, as in notification ids.
    package var compact: String { String(decoding: digits.prefix(19).filter(\.isDigit), as: UTF8.self) }

    /// `M/d/yyyy h:mm:ss AM/PM`, as in error details.
    package var american: String {
        let hour = number(11..<13)
        let twelve = hour % 12 == 0 ? 12 : hour % 12
        return "\(number(5..<7))/\(number(8..<10))/\(number(0..<4)) \(twelve):\(text(14..<19)) \(hour < 12 ? "AM" : "PM")"
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    package var httpDate: String {
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = Int((milliseconds >= 0 ? milliseconds : milliseconds - 86_399_999) / 86_400_000)
        let weekday = weekdays[(days % 7 + 7) % 7]
        return "\(weekday), \(text(8..<10)) \(months[number(5..<7) - 1]) \(text(0..<4)) \(text(11..<19)) GMT"
    }

    private func text(_ places: Range<Int>) -> String { String(decoding: digits[places], as: UTF8.self) }

    private func number(_ places: Range<Int>) -> Int { digits[places].reduce(0) { $0 * 10 + Int($1 &- 0x30) } }
}
