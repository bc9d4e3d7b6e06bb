import Basics

/// A class of characters that a name may be made of, ASCII only.
struct CharacterClass: Sendable {
    /// A bit for each character of ASCII.
    private struct Bitmap: Equatable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        init(_ isMember: (UInt8) -> Bool) {
            for byte in UInt8(0)..<64 where isMember(byte) { low |= 1 << UInt64(byte) }
            for byte in UInt8(64)..<128 where isMember(byte) { high |= 1 << UInt64(byte - 64) }
        }

        @inline(__always) func contains(_ byte: UInt8) -> Bool {
            byte < 0x80 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
        }

        /// The members as a bracket of a regular expression, neighbours as ranges.
        var bracket: String {
            var text = "["
            var byte: UInt8 = 0
            while byte < 0x80 {
                let first = byte
                while contains(byte) { byte += 1 }
                if byte > first { text += Self.escaped(first) }
                if byte > first + 1 { text += (byte > first + 2 ? "-" : "") + Self.escaped(byte - 1) }
                byte += 1
            }
            return text + "]"
        }

        /// A character inside a bracket.
        private static func escaped(_ byte: UInt8) -> String {
            let character = String(Unicode.Scalar(byte))
            return "\\[]^-".contains(character) ? "\\" + character : character
        }
    }

    /// The characters that are allowed, to follow the words "may hold only".
    let explanation: StaticString
    private let allowed: Bitmap
    private let starting: Bitmap

    private init(_ explanation: StaticString, start: ((UInt8) -> Bool)? = nil, isAllowed: (UInt8) -> Bool) {
        self.explanation = explanation
        allowed = Bitmap(isAllowed)
        starting = start.map(Bitmap.init) ?? allowed
    }

    /// True if every character is allowed, the first one as a first one. So it is of an empty text, too.
    func matches(_ text: Span<UInt8>) -> Bool {
        guard text.isEmpty || starting.contains(text[0]) else { return false }
        for index in text.indices where !allowed.contains(text[index]) { return false }
        return true
    }

    /// The same as a regular expression (ECMA-262), for a text that is not empty.
    var pattern: String {
        allowed == starting ? "^\(allowed.bracket)+$" : "^\(starting.bracket)\(allowed.bracket)*$"
    }

    /// The same for a text that may be empty; of a class in which the first character is like all others.
    var patternOrEmpty: String { "^\(allowed.bracket)*$" }

    static let identifier = CharacterClass("letters, digits and . _ : -") { $0.isLetterOrDigit || isOne(of: "._:-", byte: $0) }
    static let slug = CharacterClass(
        "small letters, digits and . _ -, and must start with a letter or digit",
        start: { $0.isSmallLetter || $0.isDigit }, isAllowed: { $0.isSmallLetter || $0.isDigit || isOne(of: "._-", byte: $0) })
    static let tag = CharacterClass("letters, digits and _ @ # . : -") { TagText.isCharacter($0) }
    static let labelName = CharacterClass(
        "small letters, digits and _, and must start with a letter", start: { $0.isSmallLetter },
        isAllowed: { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "_") })
    /// A header's name: a token of RFC 9110, section 5.6.2.
    static let headerName = CharacterClass("letters, digits and ! # $ % & ' * + - . ^ _ ` | ~") {
        $0.isLetterOrDigit || isOne(of: "!#$%&'*+-.^_`|~", byte: $0)
    }
    /// A scheme of RFC 3986, section 3.1.
    static let scheme = CharacterClass(
        "letters, digits and + - ., and must start with a letter", start: { $0.isLetter },
        isAllowed: { $0.isLetterOrDigit || isOne(of: "+-.", byte: $0) })
    static let printable = CharacterClass("printable ASCII characters") { $0 >= 0x20 && $0 <= 0x7E }
    static let visible = CharacterClass("visible ASCII characters, no blanks") { $0 > 0x20 && $0 <= 0x7E }

    private static func isOne(of characters: String, byte: UInt8) -> Bool { characters.utf8.contains(byte) }
}
