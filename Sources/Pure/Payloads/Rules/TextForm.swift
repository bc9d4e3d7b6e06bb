internal import Basics
internal import PushModel

/// A form that a text can be asked to have, in a body and in a header alike.
enum TextForm: Sendable {
    case any
    /// At most so many bytes.
    case bytes(Int)
    /// 1 to so many letters and digits.
    case alphanumeric(Int)
    /// 1 to so many letters, digits, `-` and `_`.
    case base64URL(Int)
    /// 1 to 50 letters, digits and signs of `-_.~%`. An empty text is not set, as in all protocol buffers.
    case label
    /// Digits only, at most 18.
    case digits
    /// One of these words, whatever the case of their letters. The words are in lower case.
    case words([StaticString])
    /// 32 hexadecimal digits with four hyphens.
    case uuid
    /// Seconds with an `s` behind them, at least 0 and at most so many.
    case duration(Int64)
    /// `#rrggbb`, or an empty text, which is not set.
    case color
    /// An address that begins with `https://`, or an empty text, which is not set.
    case secureAddress
    /// An RFC 3339 date-time.
    case moment

    /// True if `text` has the form.
    func isMet(by text: Span<UInt8>) -> Bool {
        switch self {
        case .any: true
        case .bytes(let most): text.count <= most
        case .alphanumeric(let most): (1...most).contains(text.count) && text.allSatisfy { $0.isLetterOrDigit }
        case .base64URL(let most):
            (1...most).contains(text.count)
                && text.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        case .label: (0...50).contains(text.count) && text.allSatisfy { $0.isLetterOrDigit || "-_.~%".utf8.contains($0) }
        case .digits: (1...18).contains(text.count) && text.allSatisfy { $0.isDigit }
        case .words(let words): words.contains { text.equalsIgnoringCase($0) }
        case .uuid: Self.isUUID(text)
        case .duration(let most): Self.isDuration(text, ofAtMost: most)
        case .color:
            text.isEmpty
                || text.count == 7 && text[0] == UInt8(ascii: "#") && text.extracting(1...).allSatisfy { $0.isHexadecimalDigit }
        case .secureAddress: text.isEmpty || text.count > 8 && text.holdsIgnoringCase("https://")
        case .moment: Timestamp(text) != nil
        }
    }

    /// The words behind "must be" or "must have".
    var words: String {
        switch self {
        case .any: "be a string"
        case .bytes(let most): "have at most \(most) bytes"
        case .alphanumeric(let most): "have 1 to \(most) letters and digits"
        case .base64URL(let most): "have 1 to \(most) letters, digits, - and _"
        case .label: "have 1 to 50 letters, digits and signs of - _ . ~ %"
        case .digits: "be a whole number in digits"
        case .words(let words): "be one of " + words.map { "\($0)" }.joined(separator: ", ")
        case .uuid: "be a UUID"
        case .duration(let most): "be a duration such as 3.5s, from 0s to \(most)s"
        case .color: "be a color such as #00aaff"
        case .secureAddress: "be an address that begins with https://"
        case .moment: "be a moment such as 2026-01-31T12:00:00Z"
        }
    }

    private static func isUUID(_ text: Span<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        for index in text.indices {
            let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
            guard isHyphen ? text[index] == UInt8(ascii: "-") : text[index].isHexadecimalDigit else { return false }
        }
        return true
    }

    /// Seconds and up to nine digits of a fraction, as the JSON of protocol buffers has them.
    private static func isDuration(_ text: Span<UInt8>, ofAtMost most: Int64) -> Bool {
        guard text.count > 1, text[text.count - 1] == UInt8(ascii: "s") else { return false }
        var seconds: Int64 = 0
        var index = 0
        while index < text.count - 1, text[index].isDigit {
            guard index < 15 else { return false }
            seconds = seconds * 10 + Int64(text[index] - UInt8(ascii: "0"))
            index += 1
        }
        guard index > 0 else { return false }
        if index == text.count - 1 { return seconds <= most }
        let fraction = text.extracting((index + 1)..<(text.count - 1))
        return text[index] == UInt8(ascii: ".") && (1...9).contains(fraction.count) && fraction.allSatisfy { $0.isDigit }
            && (seconds < most || seconds == most && fraction.allSatisfy { $0 == UInt8(ascii: "0") })
    }
}

extension Span<UInt8> {
    /// True if `isWanted` holds for every byte.
    @inline(__always) func allSatisfy(_ isWanted: (UInt8) -> Bool) -> Bool {
        for index in indices where !isWanted(self[index]) { return false }
        return true
    }
}
