import PushModel

/// Reads the `Retry-After` header (RFC 9110, section 10.2.3): seconds, or a date in any of HTTP's three spellings.
public enum RetryAfter {
    /// The longest wait that is believed, one hour in milliseconds; more would park a hub on a typo.
    public static let maximum: Int64 = 3_600_000

    /// The wait in milliseconds, 0 – `maximum`, or nil when the value is neither a number nor a date.
    ///
    /// A negative number and a date in the past mean "now".
    ///
    /// - Parameters:
    ///   - value: The header's value.
    ///   - now: The present moment, milliseconds since 1970.
    public static func milliseconds(_ value: some Collection<UInt8>, now: Int64) -> Int64? {
        let text = String(decoding: value, as: UTF8.self)
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(String.init)
        if words.count == 1, let seconds = seconds(in: text.split(separator: " ").first.map(String.init) ?? "") {
            return clamp(seconds)
        }
        guard let moment = date(words) else { return nil }
        return min(max(moment - now, 0), maximum)
    }

    private static func clamp(_ seconds: Double) -> Int64 {
        Int64(min(max(seconds, 0) * 1000, Double(maximum)).rounded(.up))
    }

    private static func seconds(in word: String) -> Double? {
        let digits = word.hasPrefix("-") ? word.dropFirst() : Substring(word)
        let allowed = digits.utf8.allSatisfy { ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || $0 == UInt8(ascii: ".") }
        guard allowed, let value = Double(word), value.isFinite else { return nil }
        return value
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    private static func date(_ words: [String]) -> Int64? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var day: String
        var monthName: String
        var year: String
        var clock: String
        switch words.count {
        case 6: (day, monthName, year, clock) = (words[1], words[2], words[3], words[4])
        case 5: (monthName, day, clock, year) = (words[1], words[2], words[3], words[4])
        default: return nil
        }
        guard let month = months.firstIndex(of: monthName), let dayNumber = Int(day), var yearNumber = Int(year) else { return nil }
        if year.utf8.count == 2 { yearNumber += yearNumber < 70 ? 2000 : 1900 }
        let parts = clock.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 3, (1...31).contains(dayNumber), (1970...9999).contains(yearNumber), (0..<24).contains(parts[0]),
            (0..<60).contains(parts[1]), (0...60).contains(parts[2])
        else { return nil }
        var text = ByteWriter()
        text.append("\(yearNumber)-\(twoDigits(month + 1))-\(twoDigits(dayNumber))T")
        text.append("\(twoDigits(parts[0])):\(twoDigits(parts[1])):\(twoDigits(parts[2]))Z")
        return Timestamp(text.bytes.span)?.milliseconds
    }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
