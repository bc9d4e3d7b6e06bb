/// A word as a shell reads it, for lines that a person copies.
public enum ShellWord {
    /// The word as it is, within quotes, or with escapes (`$'…'` of bash, zsh and ksh) where it has what a terminal would act on.
    ///
    /// - Parameter text: The word.
    /// - Returns: Text without control characters, from which the shell makes the same word.
    public static func of(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || "._-/:=,@+".utf8.contains($0) }
        if isPlain { return text }
        guard text.unicodeScalars.contains(where: isControl) else { return "'" + text.replacing("'", with: "'\\''") + "'" }
        var word = "$'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": word += "\\\(scalar)"
            case _ where isControl(scalar):
                word += scalar.value < 0x80 ? "\\x" + digits(scalar, count: 2) : "\\u" + digits(scalar, count: 4)
            default: word.unicodeScalars.append(scalar)
            }
        }
        return word + "'"
    }

    /// C0, DEL, C1, line separators, and what turns the direction of writing.
    ///
    /// - Parameter scalar: A character.
    /// - Returns: True for one that a terminal acts on, or that hides what stands beside it.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func digits(_ scalar: Unicode.Scalar, count: Int) -> String {
        let digits = String(scalar.value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
