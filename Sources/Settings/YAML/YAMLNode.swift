/// A place in a file, counted from 1. The column counts characters.
struct YAMLMark: Sendable, Equatable {
    let line: Int
    let column: Int
}

/// A piece of a YAML document and where it begins.
///
/// Every scalar is text: what `no`, `0777` or `1e3` mean is for the reader of the setting to say, never for YAML.
struct YAMLNode: Sendable {
    /// A key of a mapping, where it stands, and what it names.
    struct Entry: Sendable {
        let key: String
        let mark: YAMLMark
        let node: YAMLNode
    }

    enum Value: Sendable {
        case scalar(String, isQuoted: Bool)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    let value: Value
    let mark: YAMLMark

    /// True if no value was written: `key:` or `key: ~`.
    var isAbsent: Bool {
        guard case .scalar(let text, isQuoted: false) = value else { return false }
        return text.isEmpty || text == "~"
    }
}

/// The reason for which a file is not the YAML that pushfan reads.
struct YAMLError: Error, Equatable {
    let mark: YAMLMark
    let message: String
}
