/// Values separated by commas (RFC 4180).
enum CSV {
    /// One line without its end; what holds a comma, a quote, or a blank at its edge stands in quotes.
    static func line(_ cells: [String]) -> String {
        cells.map(cell).joined(separator: ",")
    }

    private static func cell(_ text: String) -> String {
        let needsQuotes =
            text.contains { $0 == "," || $0 == "\"" || $0.isNewline } || text.first == " " || text.last == " "
        return needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }
}
