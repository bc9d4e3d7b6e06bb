import Basics

/// Values separated by commas (RFC 4180).
///
/// A text that a spreadsheet would take for a formula gets an apostrophe in front. Publishers choose ids and labels, and whoever opens the
/// file did not ask to run what they wrote.
enum CSV {
    /// One line without its end. A cell with a comma, a quote, or a blank at its edge stands in quotes.
    static func line(_ cells: [String]) -> String {
        cells.map(cell).joined(separator: ",")
    }

    private static func cell(_ text: String) -> String {
        let text = isFormula(text) ? "'" + text : text
        let needsQuotes =
            text.contains { $0 == "," || $0 == "\"" || $0.isNewline } || text.first == " " || text.last == " "
        return needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }

    private static func isFormula(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, "=+-@\t\r＝＋－＠".unicodeScalars.contains(first) else { return false }
        let isNumber = first == "-" && text.utf8.count > 1 && text.utf8.dropFirst().allSatisfy(\.isDigit)
        return !isNumber
    }
}
