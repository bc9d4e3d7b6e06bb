public import Settings

/// One flag of a command, as the parser reads it and the help shows it.
public struct Flag: Sendable {
    /// The long name, without dashes.
    public let name: String
    /// The one-letter name.
    public let letter: Character?
    /// The word for the value in the help, such as `N`, or nil for a switch.
    public let placeholder: String?
    /// One sentence without a full stop.
    public let summary: String
    /// The value of an absent flag, as it would be written.
    public let defaultText: String?
    /// The environment variable of the same setting.
    public let variable: String?
    /// The setting that the flag sets.
    public let key: String?
    /// The only legal values, empty when any text is legal.
    public let choices: [String]
    /// The flag may be given more than once.
    public let isRepeatable: Bool
    /// The flag may stand alone. A value is then only the text that an equals sign joins to it.
    public let isValueOptional: Bool

    /// A flag of a command's own.
    ///
    /// - Parameters:
    ///   - name: The long name, without dashes.
    ///   - placeholder: The word for the value, or nil for a switch.
    ///   - summary: One sentence without a full stop.
    ///   - letter: The one-letter name.
    ///   - defaultText: The value of an absent flag.
    ///   - variable: The environment variable of the same setting.
    ///   - choices: The only values there are.
    ///   - isRepeatable: The flag may be given more than once.
    ///   - isValueOptional: The flag may stand alone.
    public init(
        _ name: String, _ placeholder: String? = nil, _ summary: String, letter: Character? = nil,
        default defaultText: String? = nil, variable: String? = nil, choices: [String] = [], isRepeatable: Bool = false,
        isValueOptional: Bool = false
    ) {
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.summary = summary
        self.defaultText = defaultText
        self.variable = variable
        self.choices = choices
        self.isRepeatable = isRepeatable
        self.isValueOptional = isValueOptional
        key = nil
    }

    /// A short name for a setting. Variable and summary are the setting's own, and so is the default unless a command has another.
    ///
    /// - Parameters:
    ///   - name: The long name, without dashes.
    ///   - placeholder: The word for the value.
    ///   - definition: The setting.
    ///   - defaultText: The default of the command.
    public init(
        _ name: String, _ placeholder: String, for definition: SettingDefinition, default defaultText: String? = nil
    ) {
        self.name = name
        self.placeholder = placeholder
        letter = nil
        summary = definition.summary.hasSuffix(".") ? String(definition.summary.dropLast()) : definition.summary
        self.defaultText = defaultText ?? definition.defaultText
        variable = definition.variable
        key = definition.name
        choices = []
        isRepeatable = true
        isValueOptional = false
    }

    /// The flag as a person types it, with its value.
    var spelling: String {
        let short = letter.map { "-\($0), " } ?? ""
        return short + "--\(name)" + (placeholder.map { isValueOptional ? "[=\($0)]" : " \($0)" } ?? "")
    }
}

/// Flags that are shown together.
public struct FlagGroup: Sendable {
    /// The heading.
    public let title: String
    /// The flags, in the order of the help.
    public let flags: [Flag]

    /// A group with a heading.
    public init(_ title: String, _ flags: [Flag]) {
        self.title = title
        self.flags = flags
    }

    /// A group of these flags with a heading.
    public init(_ title: String, _ flags: Flag...) { self.init(title, flags) }
}

extension Flag {
    /// The time for which a command waits.
    static func timeout(_ standard: String, _ summary: String = "How long to wait for the brokers") -> Flag {
        Flag("timeout", "DURATION", summary, default: standard)
    }
}

extension FlagGroup {
    /// The flags that say what a command is about.
    static func selection(_ flags: [Flag]) -> FlagGroup { FlagGroup("Selection", flags) }

    /// The format of the output. Every command that writes data has this flag.
    public static func output(_ formats: [OutputFormat] = OutputFormat.common, and more: [Flag] = []) -> FlagGroup {
        let names = formats.map(\.rawValue)
        let format = Flag(
            "output", names.joined(separator: "|"), "How the data looks", letter: "o", default: names.first, choices: names)
        return FlagGroup("Output", [format] + more)
    }

    /// The flags of the connection to Kafka, with the topics that the command uses.
    public static func kafka(topics: [String], and more: [Flag] = []) -> FlagGroup {
        let shortcuts = [("bootstrap", "LIST", "kafka.bootstrap_servers"), ("kafka-properties", "LIST", "kafka.properties")]
        let names = topics.map { ($0 + "-topic", "NAME", "kafka.topics." + $0) }
        return FlagGroup("Connection", settings(shortcuts + names) + [configFile] + more)
    }

    /// Short flags for settings: the flag's name, the placeholder, the setting's name.
    public static func settings(_ rows: [(name: String, placeholder: String, key: String)]) -> [Flag] {
        rows.compactMap { row in
            SettingsSchema.all.first { $0.name == row.key }.map { Flag(row.name, row.placeholder, for: $0) }
        }
    }

    /// The flags of a service's probes and log.
    ///
    /// - Parameter address: The service's own default for its probes.
    /// - Returns: A group of flags.
    public static func reporting(at address: String) -> FlagGroup {
        let listen = SettingsSchema.all.first { $0.name == "listen" }
        return FlagGroup(
            "Reporting",
            (listen.map { [Flag("listen", "HOST:PORT", for: $0, default: address)] } ?? [])
                + settings([("log-level", "LEVEL", "log.level"), ("log-format", "FORMAT", "log.format")]))
    }

    /// Names the consumer group.
    static let group = settings([("group", "NAME", "kafka.group_id")])

    /// Names the settings file.
    public static let configFile = Flag("config", "FILE", "Read settings from this YAML file", variable: "PUSHFAN_CONFIG")
}
