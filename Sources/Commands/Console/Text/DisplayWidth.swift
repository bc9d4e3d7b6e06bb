/// The number of columns of a terminal that a text takes.
public enum DisplayWidth {
    /// Columns of `text`. A character of East Asian width W or F, or an emoji, takes two (Unicode UAX 11).
    ///
    /// - Parameter text: A text in one line.
    /// - Returns: The number of columns.
    public static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// `text` cut so that it takes at most `width` columns, with `…` where something is missing.
    ///
    /// - Parameters:
    ///   - text: A text in one line.
    ///   - width: The most columns. For 0 and less nothing is left.
    /// - Returns: The text, or its beginning.
    public static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 0 else { return "" }
        var result = ""
        var used = 1
        for character in text {
            used += of(character)
            if used > width { break }
            result.append(character)
        }
        return result + "…"
    }

    /// `text` in lines of at most `width` columns, broken at blanks. A longer word stands alone in its line.
    ///
    /// - Parameters:
    ///   - text: A text. Several blanks count as one.
    ///   - width: The most columns of a line.
    /// - Returns: The lines, one at least.
    public static func wrap(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if of(line) + 1 + of(String(word)) <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if character.unicodeScalars.contains(where: { isWide($0) || $0.value == 0xFE0F }) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return 1
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isEmojiPresentation { return true }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF: return true
        case 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6: return true
        case 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD: return true
        default: return false
        }
    }
}
