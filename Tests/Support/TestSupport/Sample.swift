import Foundation

/// A record, or the metadata of a position, as the first released version wrote it: a file of `Tests/Samples/v1`, which never changes.
///
/// The file has lines `key TEXT` and `header NAME TEXT`, then an empty line, and the value.
public struct Sample: Sendable {
    /// Why a file is no sample.
    public struct Malformed: Error {
        /// The line that is neither a key nor a header.
        public let line: String
    }

    /// The record's key.
    public var key: String?
    /// The record's headers, in order.
    public var headers: [(name: String, value: String)] = []
    /// The value, or the metadata.
    public var value: String

    private static var folder: URL { Repository.root.appendingPathComponent("Tests/Samples/v1") }

    /// The names of all samples.
    ///
    /// - Throws: The folder cannot be read.
    public static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }
            .map { String($0.dropLast(4)) }.sorted()
    }

    /// Reads a sample.
    ///
    /// - Parameter name: The file's name without its ending.
    /// - Throws: `Malformed`, or what reading the file throws.
    public init(_ name: String) throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent("\(name).txt"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let end = lines.firstIndex(of: "") ?? lines.count - 1
        value = lines[(end + 1)...].filter { !$0.isEmpty }.joined(separator: "\n")
        for line in lines[..<end] {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            if line.hasPrefix("key ") {
                key = String(line.dropFirst(4))
            } else if words.count == 3, words[0] == "header" {
                headers.append((name: words[1], value: words[2]))
            } else {
                throw Malformed(line: line)
            }
        }
    }

    /// The value's bytes.
    public var bytes: [UInt8] { Array(value.utf8) }
}
