/// A key of the settings.
public struct SettingDefinition: Sendable {
    /// The dotted name, as in the file.
    public let name: String
    /// The value when no source names the key, or nil for none.
    public let defaultText: String?
    /// One sentence.
    public let summary: String
    /// The unit of a number, such as `calls`, or nil for a value that contains its unit.
    public let unit: String?
    /// The allowed values, as the end of the sentence "expected …".
    public let allowed: String
    /// The only legal values, empty where there are others.
    public let choices: [String]
    /// True if the value is never shown and may be read from a file that `PUSHFAN_…_FILE` names.
    public let isSecret: Bool

    let acceptsList: Bool
    let acceptsMap: Bool
    /// True if the value is the path of a file that must be there.
    let namesFile: Bool

    /// The environment variable of the key: `kafka.group_id` is `PUSHFAN_KAFKA_GROUP_ID`.
    public var variable: String { Self.variable(of: name) }

    static func variable(of name: String) -> String {
        SettingVariables.prefix + name.uppercased().replacing(".", with: "_").replacing("-", with: "_")
    }
}
