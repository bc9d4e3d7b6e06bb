import Basics
public import PushModel

/// Reads the `Retry-After` header (RFC 9110, section 10.2.3): seconds, or a date in any of HTTP's three spellings.
public enum RetryAfter {
    /// The longest wait that is believed, one hour in milliseconds. More would park a hub on a typo.
    public static let maximum: Int64 = 3_600_000

    /// Reads the header's value.
    ///
    /// A negative number and a date in the past mean "now". Fractions of a second, which RFC 9110 does not know, are read too.
    ///
    /// - Parameters:
    ///   - value: The header's value.
    ///   - now: The present moment.
    /// - Returns: The wait in milliseconds, 0 – `maximum`, or nil when the value is neither a number nor a date.
    public static func milliseconds(_ value: some Collection<UInt8>, now: Timestamp) -> Int64? {
        let text = String(decoding: value, as: UTF8.self)
        if let seconds = seconds(in: text) {
            return Int64((min(max(seconds, 0), Double(maximum / 1000)) * 1000).rounded(.up))
        }
        guard let moment = date(text, now: now) else { return nil }
        return min(max(moment.milliseconds(since: now), 0), maximum)
    }

    /// Digits with at most one point among them, behind an optional minus. Nothing else that `Double` would take.
    private static func seconds(in text: String) -> Double? {
        let word = text.split(separator: " ", omittingEmptySubsequences: true)
        guard word.count == 1, let word = word.first else { return nil }
        let digits = word.hasPrefix("-") ? word.dropFirst() : word
        guard digits.utf8.first?.isDigit == true, digits.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
            let value = Double(word)
        else { return nil }
        return value
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads a date of HTTP (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
    /// `Sun Nov  6 08:49:37 1994`, all in UTC.
    ///
    /// - Parameters:
    ///   - text: The date.
    ///   - now: The present moment, which a year of two digits is near to.
    /// - Returns: The moment, or nil for anything else.
    public static func date(_ text: String, now: Timestamp) -> Timestamp? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        let (day, monthName, year, clock): (String, String, String, String)
        switch words.count {
        case 6 where words[5] == "GMT": (day, monthName, year, clock) = (words[1], words[2], words[3], words[4])
        case 5: (monthName, day, clock, year) = (words[1], words[2], words[3], words[4])
        default: return nil
        }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = months.firstIndex(of: monthName), let day = number(day, digits: 1...2), parts.count == 3,
            let hour = number(parts[0], digits: 2...2), let minute = number(parts[1], digits: 2...2),
            let second = number(parts[2], digits: 2...2)
        else { return nil }
        func moment(in year: Int) -> Timestamp? {
            var text = ByteWriter()
            text.append("\(padded(year, to: 4))-\(padded(month + 1, to: 2))-\(padded(day, to: 2))")
            text.append("T\(padded(hour, to: 2)):\(padded(minute, to: 2)):\(padded(second, to: 2))Z")
            return Timestamp(text.span)
        }
        if let year = number(year, digits: 4...4) { return moment(in: year) }
        guard let year = number(year, digits: 2...2) else { return nil }
        return nearest(year, now: now, moment: moment)
    }

    /// Two digits name a year of the last 50 years or the next 50 (RFC 9110, section 5.6.7).
    private static func nearest(_ year: Int, now: Timestamp, moment: (Int) -> Timestamp?) -> Timestamp? {
        let earliest = now.adding(milliseconds: -50 * 365 * 86_400_000)
        for century in stride(from: 1900, through: 9900, by: 100) {
            if let moment = moment(century + year), moment >= earliest { return moment }
        }
        return nil
    }

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }

    private static func padded(_ value: Int, to width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
