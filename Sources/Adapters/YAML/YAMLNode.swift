/// A place in a file, counted from 1. The column counts characters.
package struct YAMLMark: Sendable, Equatable {
    package let line: Int
    package let column: Int
}

/// A piece of a YAML document and where it begins.
///
/// Every scalar is text: what `no`, `0777` or `1e3` mean is for the reader of the setting to say, never for YAML.
package struct YAMLNode: Sendable {
    /// A key of a mapping, where it stands, and what it names.
    package struct Entry: Sendable {
        package let key: String
        package let mark: YAMLMark
        package let node: YAMLNode
    }

    /// The content of a piece.
    package enum Value: Sendable {
        case scalar(String, isQuoted: Bool)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    package let value: Value
    package let mark: YAMLMark

    /// True if no value was written: `key:` or `key: ~`.
    package var isAbsent: Bool {
        guard case .scalar(let text, isQuoted: false) = value else { return false }
        return text.isEmpty || text == "~"
    }
}

/// The reason for which a file is not the YAML that pushfan reads.
package struct YAMLError: Error, Equatable {
    package let mark: YAMLMark
    package let message: String

    package init(mark: YAMLMark, message: String) {
        self.mark = mark
        self.message = message
    }
}
