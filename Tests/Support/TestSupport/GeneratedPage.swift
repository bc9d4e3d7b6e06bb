import Foundation

/// A page of the documentation with tables that are made from the code.
///
/// A table stands between `<!-- KIND: PART -->` and `<!-- end -->`. With `PUSHFAN_UPDATE_PAGES=1` in the environment the page is written
/// instead of compared.
public struct GeneratedPage {
    private let file: URL
    private let lines: [String]

    /// Reads a page of `Sources/Commands/PushFan/PushFan.docc`.
    ///
    /// - Parameter name: The file's name without its ending.
    /// - Throws: The file cannot be read.
    public init(_ name: String) throws {
        file = Repository.root.appendingPathComponent("Sources/Commands/PushFan/PushFan.docc/\(name).md")
        let text = try String(contentsOf: file, encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The PART of every marker of a kind.
    public func parts(of kind: String) -> [String] { lines.compactMap { Self.part(of: kind, in: $0) } }

    /// Compares the tables of a kind with those of the code, or writes them.
    ///
    /// - Parameters:
    ///   - kind: The first word of the markers.
    ///   - table: The lines of the table for a PART.
    /// - Returns: The first line that differs; nil when none does.
    /// - Throws: The page cannot be written.
    public func difference(_ kind: String, _ table: (String) -> [String]) throws -> String? {
        var made: [String] = []
        var isInside = false
        for line in lines {
            if line == "<!-- end -->" { isInside = false }
            if !isInside { made.append(line) }
            if let part = Self.part(of: kind, in: line) {
                if isInside { return "no <!-- end --> before \(line)" }
                made += [""] + table(part) + [""]
                isInside = true
            }
        }
        if isInside { return "no <!-- end --> behind the last table" }
        if ProcessInfo.processInfo.environment["PUSHFAN_UPDATE_PAGES"] == "1" {
            try Data(made.joined(separator: "\n").utf8).write(to: file)
            return nil
        }
        guard made != lines else { return nil }
        let place = zip(made, lines).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(made.count, lines.count)
        return """
            line \(place + 1) of \(file.lastPathComponent) differs; PUSHFAN_UPDATE_PAGES=1 rewrites it
            code: \(place < made.count ? made[place] : "the end")
            page: \(place < lines.count ? lines[place] : "the end")
            """
    }

    /// The cells of the tables of a kind, without their titles.
    public func rows(of kind: String) -> [[String]] {
        var (rows, isInside) = ([[String]](), false)
        for line in lines {
            if line == "<!-- end -->" { isInside = false }
            if Self.part(of: kind, in: line) != nil { isInside = true }
            guard isInside, line.hasPrefix("| ") else { continue }
            rows.append(line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        return Array(rows.dropFirst())
    }

    /// A table in Markdown.
    ///
    /// - Parameters:
    ///   - titles: The titles of the columns.
    ///   - rows: As many cells a row as there are titles.
    /// - Returns: Its lines.
    public static func table(_ titles: [String], _ rows: [[String]]) -> [String] {
        func line(_ cells: [String]) -> String {
            "|" + cells.map { $0.isEmpty ? " |" : " \($0.replacing("|", with: "\\|")) |" }.joined()
        }
        return [line(titles), "|" + titles.map { _ in "---|" }.joined()] + rows.map(line)
    }

    private static func part(of kind: String, in line: String) -> String? {
        let (begin, end) = ("<!-- \(kind): ", " -->")
        guard line.hasPrefix(begin), line.hasSuffix(end) else { return nil }
        return String(line.dropFirst(begin.count).dropLast(end.count))
    }
}
