/// The file that counts, and the rule by which another one follows it. Pure.
///
/// A file that is written in place is empty first and grows then, and on a full disk it stays cut. The empty line at the end of a file
/// says that it is whole. Without one a file that takes nothing away follows at once, and any other when it has settled.
struct TakenFile<Content: FileContent>: Sendable {
    /// A decision about another file.
    enum Verdict: Sendable, Equatable {
        case follows
        /// It follows when it has not changed for ``patience``.
        case mustSettle
        /// It never follows.
        case isCut
    }

    /// The time without a change after which a file has settled.
    static var patience: Duration { .seconds(10) }

    let content: Content
    /// True if an empty line ends it.
    let isClosed: Bool

    /// The file of these bytes.
    init(_ content: Content, from bytes: [UInt8]) {
        self.content = content
        isClosed = Self.isClosed(bytes)
    }

    /// Decides about another file, which has these bytes.
    func verdict(on other: Content, from bytes: [UInt8], isSettled: Bool) -> Verdict {
        if bytes.isEmpty || (isClosed && bytes.count < content.bytes.count && content.bytes.starts(with: bytes)) { return .isCut }
        let isWhole = Self.isClosed(bytes) ? other.count > 0 : bytes.last == Self.lineFeed && other.keepsAll(of: content)
        return isWhole || isSettled ? .follows : .mustSettle
    }

    private static var lineFeed: UInt8 { UInt8(ascii: "\n") }

    private static func isClosed(_ bytes: [UInt8]) -> Bool {
        guard bytes.last == lineFeed else { return false }
        let rest = bytes.dropLast()
        let line = rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
        return line.isEmpty || line.last == lineFeed
    }
}
