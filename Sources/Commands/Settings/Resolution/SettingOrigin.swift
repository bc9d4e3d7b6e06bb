/// The source of a value.
public enum SettingOrigin: Sendable, Equatable, CustomStringConvertible {
    /// A flag of the command line, as it was spelled.
    case flag(String)
    /// An environment variable.
    case variable(String)
    /// The file that an environment variable names.
    case variableFile(variable: String, path: String)
    /// A place in the settings file. Line and column count from 1.
    case file(path: String, line: Int, column: Int)
    /// A file as a whole.
    case path(String)
    /// No source named it.
    case builtIn

    /// `--flag`, `VARIABLE`, `VARIABLE (path)`, `path:line:column` or `default`.
    public var description: String {
        switch self {
        case .flag(let spelling): spelling
        case .variable(let name): name
        case .variableFile(let variable, let path): "\(variable) (\(path))"
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .path(let path): path
        case .builtIn: "default"
        }
    }
}

/// One fault of the settings.
public struct SettingProblem: Sendable, Equatable, CustomStringConvertible {
    /// The key, as far as there is one.
    public let key: String?
    /// The source of the faulty value.
    public let origin: SettingOrigin
    /// The fault, without any secret.
    public let message: String
    /// The allowed value, if there is a text for it.
    public let expected: String?

    init(_ key: String?, origin: SettingOrigin, message: String, expected: String? = nil) {
        self.key = key
        self.origin = origin
        self.message = message
        self.expected = expected
    }

    /// `place: key: fault; expected …`.
    public var description: String {
        let subject = key.map { "\($0): " } ?? ""
        return "\(origin): \(subject)\(message)" + (expected.map { "; expected \($0)" } ?? "")
    }
}

/// Everything that is wrong with the settings, at once.
public struct SettingsError: Error, CustomStringConvertible {
    /// At least one problem, in the order of the sources and then of the keys.
    public let problems: [SettingProblem]

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
