import Console

/// Writes the demo's lines, of which none takes more than 80 columns.
struct DemoText {
    /// The most columns of a line.
    static let width = 80
    private static let indent = "  "
    /// Columns of the word that a step begins with.
    private static let wordWidth = 11

    let streams: Streams

    /// A scene's title, with a blank line before it.
    func heading(_ text: String) throws {
        try streams.out("")
        try streams.outBold(text)
        try streams.flush()
    }

    /// Sentences, broken at blanks.
    func say(_ text: String) throws {
        try show(DisplayWidth.wrap(text, to: Self.width - Self.indent.count))
    }

    func step(_ word: String, meaning text: String) throws {
        let lines = DisplayWidth.wrap(text, to: Self.width - Self.indent.count - Self.wordWidth)
        try show(lines.enumerated().map { index, line in Self.padded(index == 0 ? word : "", to: Self.wordWidth) + line })
    }

    /// Lines as they are, each cut where the 80 columns end, without blanks at the end.
    func show(_ lines: [String]) throws {
        for line in lines {
            let shown = DisplayWidth.cut(Self.indent + line, to: Self.width)
            let end = shown.lastIndex { $0 != " " }.map { shown.index(after: $0) }
            try streams.out(String(shown[..<(end ?? shown.startIndex)]))
        }
        try streams.flush()
    }

    /// A text and blanks behind it, one at least.
    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - DisplayWidth.of(text)))
    }
}
