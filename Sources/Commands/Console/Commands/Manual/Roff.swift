/// Writes a manual page in the macros of man(7), for groff and mandoc.
struct Roff {
    /// The longest line. mandoc complains of more than 80 bytes.
    private static let width = 78

    private var lines: [String]

    /// Begins a page.
    ///
    /// - Parameters:
    ///   - name: The name of the page, without its section.
    ///   - section: The section of the manual, such as `1`.
    ///   - date: A day such as `2026-11-27`, or nothing.
    ///   - source: The program and its version.
    init(_ name: String, section: String, date: String, source: String) {
        // The date is no text: mandoc reads its digits and hyphens as they are.
        let fields = [Self.escaped(name.uppercased()), section, date, Self.escaped(source), "pushfan manual"]
        lines = [".TH " + fields.map { "\"\($0)\"" }.joined(separator: " ")]
        // Names of keys and variables are not to be hyphenated, nor stretched apart.
        lines += [".nh", ".ad l"]
    }

    /// The page.
    var text: String { lines.joined(separator: "\n") + "\n" }

    mutating func add(section title: String) { lines.append(".SH " + Self.escaped(title)) }

    mutating func add(subsection title: String) { lines.append(".SS " + Self.escaped(title)) }

    /// A paragraph, whose first line is marked up already.
    mutating func add(marked text: String) { lines += Self.filled(text) }

    /// Another paragraph of the same section. Text between backquotes is bold.
    mutating func add(paragraph text: String) {
        lines += (lines.last?.hasPrefix(".S") == true ? [] : [".PP"]) + Self.sentences(text)
    }

    /// A marked-up word, and below it what it means.
    mutating func add(item tag: String, meaning text: String) { lines += [".TP", Self.guarded(tag)] + Self.sentences(text) }

    /// Lines that stay as they are.
    mutating func add(examples: [String]) {
        lines += [".EX"] + examples.map { Self.guarded(Self.escaped($0)) } + [".EE"]
    }

    static func bold(_ text: String) -> String { "\\fB" + escaped(text) + "\\fR" }

    static func italic(_ text: String) -> String { "\\fI" + escaped(text) + "\\fR" }

    /// The text in characters that roff shows as they are (groff_char(7), "ASCII characters that are not shown as they are").
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
        return result
    }

    /// Text with backquotes, each sentence on a line of its own.
    private static func sentences(_ text: String) -> [String] {
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        let marked = pieces.map { place, piece in place % 2 == 1 ? bold(String(piece)) : escaped(String(piece)) }.joined()
        return marked.replacing(#/([.?!]) (?=[A-Z\\])/#) { $0.output.1 + "\n" }.split(separator: "\n").flatMap {
            filled(String($0))
        }
    }

    /// Lines of words that are not too long, as far as words allow.
    private static func filled(_ text: String) -> [String] {
        DisplayWidth.wrap(text, to: width).map(guarded)
    }

    /// A line that is no request to roff, whatever it begins with.
    private static func guarded(_ line: String) -> String { line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line }
}
