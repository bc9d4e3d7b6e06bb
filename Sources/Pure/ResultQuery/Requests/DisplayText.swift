import Basics

/// Makes texts that anybody may have written fit for one line of a list.
enum DisplayText {
    /// The most characters of a title, counted as Unicode scalars like all limits of requests.
    static let titleLimit = 256

    /// The beginning of a text on one line, or nil where all of it is blank.
    ///
    /// - Parameters:
    ///   - text: The text, of any length.
    ///   - limit: The most scalars. The end is on a character's boundary, but in a character that alone has more.
    /// - Returns: The line.
    static func line(_ text: String, limit: Int) -> String? {
        var line = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars.prefix(limit + 1) {
            count += 1
            line.append(ShellWord.isControl(scalar) ? " " : scalar)
        }
        var shown = String(line)
        if count > limit {
            shown.removeLast()
            if shown.isEmpty { shown = String(String.UnicodeScalarView(line.prefix(limit))) }
        }
        return shown.unicodeScalars.allSatisfy(\.properties.isWhitespace) ? nil : shown
    }
}
