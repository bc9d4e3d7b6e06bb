/// The properties of a key that do not depend on the type of its value.
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
    /// True if the value is never shown and may be read from a file that `PUSHFAN_…_FILE` names.
    public let isSecret: Bool

    let acceptsList: Bool
    let acceptsMap: Bool
    let check: @Sendable (SettingInput) throws(SettingFault) -> Void

    /// The environment variable of the key: `kafka.group_id` is `PUSHFAN_KAFKA_GROUP_ID`.
    public var variable: String { Self.variable(of: name) }

    static func variable(of name: String) -> String {
        SettingVariables.prefix + name.uppercased().replacing(".", with: "_").replacing("-", with: "_")
    }
}

/// A key and the type of its value.
struct SettingKey<Value: Sendable>: Sendable {
    let type: SettingType<Value>
    let definition: SettingDefinition

    /// Defines a key.
    ///
    /// - Parameters:
    ///   - name: The dotted name.
    ///   - type: The reading of its value.
    ///   - defaultText: The default, as it would be written, or nil for none.
    ///   - unit: The unit of a number.
    ///   - summary: One sentence.
    init(_ name: String, type: SettingType<Value>, default defaultText: String? = nil, unit: String? = nil, summary: String) {
        self.type = type
        definition = SettingDefinition(
            name: name, defaultText: defaultText, summary: summary, unit: unit, allowed: type.allowed,
            isSecret: type.isSecret, acceptsList: type.shape == .list, acceptsMap: type.shape == .map,
            check: { (input) throws(SettingFault) in _ = try type.read(input) })
    }
}
