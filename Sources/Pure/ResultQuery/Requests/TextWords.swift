import Basics

/// Splits texts into the words by which they are found: letters, digits and the marks on them, folded.
enum TextWords {
    /// The most scalars of a word that are compared.
    static let lengthLimit = 64
    /// The most different words by which a request is found. The title's come first.
    static let countLimit = 64

    /// The words of a text, in their order.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - keepsStars: True to take `*` for a part of words, as in patterns.
    /// - Returns: The words, some twice.
    static func words(of text: String, keepingStars keepsStars: Bool = false) -> [[UInt8]] {
        var words: [[UInt8]] = []
        forEachWord(of: text, keepingStars: keepsStars) {
            words.append($0); return true
        }
        return words
    }

    /// Calls `body` with each word until it returns false.
    static func forEachWord(of text: String, keepingStars keepsStars: Bool = false, perform body: ([UInt8]) -> Bool) {
        var word: [UInt8] = []
        var length = 0
        for scalar in text.unicodeScalars {
            if isPart(scalar) || keepsStars && scalar == "*" {
                length += 1
                if length > lengthLimit { continue }
                // Folding a text is folding its scalars, most of which are ASCII and need no text of their own.
                if scalar.isASCII {
                    word.append(UInt8(truncatingIfNeeded: scalar.value).lowercased)
                } else {
                    word += Sought.folded(String(scalar)).utf8
                }
            } else if length > 0 {
                if !body(word) { return }
                word.removeAll(keepingCapacity: true)
                length = 0
            }
        }
        if length > 0 { _ = body(word) }
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return UInt8(truncatingIfNeeded: scalar.value).isLetterOrDigit }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
            return true
        default: return false
        }
    }
}
