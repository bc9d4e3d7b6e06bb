/// A class of characters that a name may be made of; ASCII only.
struct CharacterClass: Sendable {
    /// What is allowed, to follow the words "may hold only".
    let explanation: String
    private let allowed: [Bool]
    private let starting: [Bool]

    private init(_ explanation: String, start: ((UInt8) -> Bool)? = nil, _ isAllowed: (UInt8) -> Bool) {
        self.explanation = explanation
        allowed = (0...UInt8.max).map { $0 < 0x80 && isAllowed($0) }
        starting = start.map { mayStart in (0...UInt8.max).map { $0 < 0x80 && mayStart($0) } } ?? allowed
    }

    /// Whether every character is allowed, the first one as a first one; so of an empty text, too.
    func matches(_ text: Span<UInt8>) -> Bool {
        guard text.isEmpty || starting[Int(text[0])] else { return false }
        for index in text.indices where !allowed[Int(text[index])] { return false }
        return true
    }

    static let identifier = CharacterClass("letters, digits and . _ : -") { isAlphanumeric($0) || isOne(of: "._:-", $0) }
    static let slug = CharacterClass(
        "small letters, digits and . _ -, and must start with a letter or digit",
        start: { isSmallLetter($0) || isDigit($0) }, { isSmallLetter($0) || isDigit($0) || isOne(of: "._-", $0) })
    static let tag = CharacterClass("letters, digits and _ @ # . : -") { isAlphanumeric($0) || isOne(of: "_@#.:-", $0) }
    static let labelName = CharacterClass(
        "small letters, digits and _, and must start with a letter", start: isSmallLetter,
        { isSmallLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") })
    /// A header's name: a token of RFC 9110, section 5.6.2.
    static let headerName = CharacterClass("letters, digits and ! # $ % & ' * + - . ^ _ ` | ~") {
        isAlphanumeric($0) || isOne(of: "!#$%&'*+-.^_`|~", $0)
    }
    /// A scheme of RFC 3986, section 3.1.
    static let scheme = CharacterClass(
        "letters, digits and + - ., and must start with a letter", start: { isSmallLetter($0 | 0x20) },
        { isAlphanumeric($0) || isOne(of: "+-.", $0) })
    static let printable = CharacterClass("printable ASCII characters") { $0 >= 0x20 && $0 <= 0x7E }
    static let visible = CharacterClass("visible ASCII characters, no blanks") { $0 > 0x20 && $0 <= 0x7E }

    private static func isSmallLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { isSmallLetter(byte | 0x20) || isDigit(byte) }
    private static func isOne(of characters: String, _ byte: UInt8) -> Bool { characters.utf8.contains(byte) }
}
