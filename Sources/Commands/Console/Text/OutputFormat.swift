/// The format of data.
public enum OutputFormat: String, Sendable, CaseIterable {
    /// For a person.
    case table
    /// The same with more columns.
    case wide
    /// One JSON value.
    case json
    /// One JSON object a line.
    case ndjson
    /// All columns, separated by commas (RFC 4180, but with the line ends of Unix).
    case csv

    /// The formats of most commands.
    public static let common: [OutputFormat] = [.table, .json, .ndjson]

    /// The data is for a person, rather than a program.
    var isForPeople: Bool { self == .table || self == .wide }
}
