/// The build of a program: its version, and the commit it was made from.
public struct Build: Sendable {
    /// The word in place of a fact that is not known.
    public static let unknown = "unknown"

    /// The program's version.
    public let version = Program.version
    /// The commit in hexadecimal digits, or `unknown`.
    public let commit: String
    /// The day of the commit in UTC, such as `2026-11-27`, or `unknown`.
    public let date: String

    /// A build of a commit and its day, each `unknown` unless it is given.
    public init(commit: String = unknown, date: String = unknown) {
        self.commit = commit
        self.date = date
    }

    /// The commit in at most twelve digits, as people write it.
    public var shortCommit: String { String(commit.prefix(12)) }

    /// The commit with its day, where that is known: `commit 0123456789ab of 2026-11-27`.
    var words: String { "commit \(shortCommit)" + (date == Self.unknown ? "" : " of \(date)") }
}
