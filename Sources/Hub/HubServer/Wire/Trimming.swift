extension StringProtocol {
    /// Without blanks at both ends.
    package var trimmingBlanks: String {
        if !utf8.contains(where: { $0 <= 0x20 || $0 >= 0x80 }) { return String(self) }
        var text = self[...]
        while let first = text.first, first.isWhitespace { text = text.dropFirst() }
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }
}
