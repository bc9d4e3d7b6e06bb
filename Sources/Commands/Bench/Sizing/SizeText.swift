/// Numbers of a sizing as a person reads them.
enum SizeText {
    /// `20,000`, `1.05`, `0.42`: whole from a hundred on, otherwise with the digits that count.
    static func number(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return "\(number)" }
        guard abs(number) >= 99.95 else {
            let text = NumberText.text(number)
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        return grouped(Int(number.rounded()))
    }

    /// `20,000`.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        let groups = digits.indices.map { ($0 > 0 && (digits.count - $0) % 3 == 0 ? "," : "") + String(digits[$0]) }
        return (number < 0 ? "-" : "") + groups.joined()
    }

    /// `1 loop`, `2 loops`.
    static func counted(_ count: Int, of one: String) -> String { "\(grouped(count)) \(one)\(count == 1 ? "" : "s")" }

    /// `60 ms`, `2.4 s`, `3.5 min`, `2.1 h`.
    static func time(milliseconds: Double) -> String {
        switch milliseconds {
        case ..<1000: "\(number(milliseconds)) ms"
        case ..<60_000: "\(number(milliseconds / 1000)) s"
        case ..<3_600_000: "\(number(milliseconds / 60_000)) min"
        default: "\(number(milliseconds / 3_600_000)) h"
        }
    }

    /// `60 %`.
    static func percent(_ share: Double) -> String { "\(number(share * 100)) %" }

    /// `3.72 TB`: three digits, and thousands as units.
    static func bytes(_ count: Double) -> String {
        var (size, units) = (count, ["B", "kB", "MB", "GB", "TB", "PB", "EB"][...])
        while size >= 999.5, units.count > 1 {
            size /= 1000
            units.removeFirst()
        }
        let rounded = size < 10 ? (size * 100).rounded() / 100 : size < 100 ? (size * 10).rounded() / 10 : size
        return "\(number(rounded)) \(units.first ?? "")"
    }
}
