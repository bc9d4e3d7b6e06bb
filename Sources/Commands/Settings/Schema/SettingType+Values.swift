import Basics
import Delivery
import Observability
import PushModel

extension SettingType where Value == Int {
    /// A whole number.
    static func integer(_ range: ClosedRange<Int>) -> SettingType {
        text("a whole number from \(range.lowerBound) to \(range.upperBound)") { (text) throws(SettingFault) -> Int in
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else {
                throw SettingFault("is not a whole number")
            }
            guard let number = Int(text), range.contains(number) else { throw SettingFault("is out of range") }
            return number
        }
    }
}

/// A number of bytes as it is written in settings.
private enum SettingBytes {
    static let units: [(suffix: String, byteCount: Int)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

    /// The shortest text for a number of bytes.
    static func text(_ count: Int) -> String {
        let unit = units.first { count % $0.byteCount == 0 } ?? ("", 1)
        return "\(count / unit.1)\(unit.0)"
    }
}

extension SettingType where Value == Int {
    /// A whole number of bytes with a unit: `512MiB`, `8GiB`.
    static func byteCount(_ range: ClosedRange<Int>) -> SettingType {
        let bounds = "\(SettingBytes.text(range.lowerBound)) to \(SettingBytes.text(range.upperBound))"
        return text("\(bounds), a whole number and KiB, MiB or GiB") { (text) throws(SettingFault) -> Int in
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            guard let unit = SettingBytes.units.first(where: { $0.suffix == text.dropFirst(digits.count) }),
                let count = Int(digits)
            else { throw SettingFault("is not a number of bytes") }
            let (product, isBeyond) = count.multipliedReportingOverflow(by: unit.byteCount)
            guard !isBeyond, range.contains(product) else { throw SettingFault("is out of range") }
            return product
        }
    }
}

extension SettingType where Value == Double {
    /// A decimal number without exponent.
    static func decimal(_ range: ClosedRange<Double>) -> SettingType {
        text("a number from \(range.lowerBound) to \(range.upperBound)") { (text) throws(SettingFault) -> Double in
            guard text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }), let number = Double(text)
            else {
                throw SettingFault("is not a number")
            }
            guard range.contains(number) else { throw SettingFault("is out of range") }
            return number
        }
    }
}

extension SettingType where Value == Bool {
    /// `true` or `false`, and nothing merely similar.
    static var boolean: SettingType { word([("true", true), ("false", false)]) }
}

extension SettingType where Value == Duration {
    /// A whole number with a unit: `200ms`, `10s`, `5m`, `1h`.
    static func duration(_ range: ClosedRange<Duration>) -> SettingType {
        let bounds = "\(WrittenDuration.text(range.lowerBound)) to \(WrittenDuration.text(range.upperBound))"
        return text("a duration from \(bounds), a whole number and ms, s, m or h") { (text) throws(SettingFault) -> Duration in
            guard let duration = WrittenDuration(text)?.duration else { throw SettingFault("is not a duration") }
            guard range.contains(duration) else { throw SettingFault("is out of range") }
            return duration
        }
    }
}

extension SettingType where Value == Redacted<String> {
    /// Text that is never shown.
    static var secret: SettingType {
        text("text, given as a variable or in a file", isSecret: true) { (text) throws(SettingFault) -> Redacted<String> in
            Redacted(text)
        }
    }
}

/// The bytes that names may have.
enum SettingLetters {
    static func consists(_ text: String, ofLettersDigitsAnd others: String) -> Bool {
        text.utf8.allSatisfy { $0.isLetterOrDigit || others.utf8.contains($0) }
    }
}

extension SettingType where Value == StartRule {
    /// The start of a partition: a word, or a point in time (RFC 3339).
    static var start: SettingType {
        text("safe, beginning, end, or a moment such as 2026-01-31T12:00:00Z") { (text) throws(SettingFault) -> StartRule in
            switch text {
            case "safe": return .safe
            case "beginning": return .beginning
            case "end": return .end
            default:
                guard let moment = Timestamp(Array(text.utf8).span) else { throw SettingFault("is neither a word nor a moment") }
                return .moment(moment)
            }
        }
    }
}
