/// How data looks.
public enum OutputFormat: String, Sendable, CaseIterable {
    /// For a person.
    case table
    /// One JSON value.
    case json
    /// One JSON object a line.
    case ndjson
}
