import Pages
import Settings

/// The manual of the program as pages for `man`, made from the tables of its commands and settings.
struct Manual {
    /// A file of the manual.
    struct Leaf {
        /// Such as `pushfan-topics-create.1`.
        let fileName: String
        let text: String
    }

    let commands: [Command]
    let build: Build

    /// Every page, the overview first.
    var leaves: [Leaf] {
        [Leaf(fileName: "pushfan.1", text: overview())]
            + commands.map { Leaf(fileName: Self.name($0) + ".1", text: page(of: $0)) }
            + [Leaf(fileName: "pushfan.yaml.5", text: settings())]
    }

    private static func name(_ command: Command) -> String { "pushfan-" + command.name.replacing(" ", with: "-") }

    private static func reference(_ name: String, section: String = "1") -> String { Roff.bold(name) + "(\(section))" }

    private func begin(_ name: String, section: String, summary: String, synopsis: String) -> Roff {
        let date = build.date == Build.unknown ? "" : build.date
        var roff = Roff(name, section: section, date: date, source: "pushfan \(build.version)")
        roff.add(section: "NAME")
        roff.add(marked: "\(Roff.escaped(name)) \\- \(Roff.escaped(summary))")
        roff.add(section: "SYNOPSIS")
        roff.add(marked: synopsis)
        roff.add(section: "DESCRIPTION")
        return roff
    }

    private func overview() -> String {
        var roff = begin(
            "pushfan", section: "1", summary: "Kafka to notification hub",
            synopsis: "\(Roff.bold("pushfan")) \(Roff.italic("COMMAND")) [\(Roff.italic("flags"))] [\(Roff.italic("arguments"))]")
        roff.add(paragraph: HelpPage.purpose)
        roff.add(paragraph: "`pushfan help` explains commands and the topics below. Each command has a manual page of its own.")
        roff.add(section: "COMMANDS")
        for section in Command.Section.allCases {
            let members = commands.filter { $0.section == section }
            guard !members.isEmpty else { continue }
            roff.add(subsection: section.rawValue)
            for command in members { roff.add(item: Self.reference(Self.name(command)), meaning: command.summary + ".") }
        }
        roff.add(section: "TOPICS")
        for page in Page.all { roff.add(item: Roff.bold("pushfan help --page \(page.topic)"), meaning: page.summary) }
        roff.add(section: "OPTIONS")
        roff.add(item: "\(Roff.bold("-h")), \(Roff.bold("--help"))", meaning: "Show the commands, or behind a command its page.")
        roff.add(item: Roff.bold("--version"), meaning: "Print the version.")
        roff.add(section: "EXAMPLES")
        roff.add(examples: ["pushfan help", "pushfan help enqueue", "pushfan config check pushfan.yaml"])
        addEnvironment(to: &roff, variables: [("PUSHFAN_CONFIG", "The settings file, where no `--config` names one.")])
        addExitStatus(to: &roff)
        addSeeAlso(
            to: &roff, references: [Self.reference("pushfan.yaml", section: "5")] + commands.map { Self.reference(Self.name($0)) }
        )
        return roff.text
    }

    private func page(of command: Command) -> String {
        let operands = command.operands.isEmpty ? "" : " " + Roff.italic(command.operands)
        var roff = begin(
            Self.name(command), section: "1", summary: command.summary,
            synopsis: "\(Roff.bold("pushfan " + command.name)) [\(Roff.italic("flags"))]\(operands)")
        roff.add(paragraph: command.summary + ".")
        if command.acceptsSettings { roff.add(paragraph: HelpPage.settingsAreFlags) }
        roff.add(section: "OPTIONS")
        for group in command.groups + [FlagGroup("Help", [Command.helpFlag])] where !group.flags.isEmpty {
            roff.add(subsection: group.title)
            for flag in group.flags { roff.add(item: Self.tag(flag), meaning: Self.meaning(flag)) }
        }
        roff.add(section: "EXAMPLES")
        roff.add(examples: command.examples)
        let variables = command.flags.compactMap { flag in flag.variable.map { ($0, "The same as `--\(flag.name)`.") } }
        addEnvironment(to: &roff, variables: variables)
        addExitStatus(to: &roff)
        let group = command.name.prefix { $0 != " " } + " "
        let neighbours = commands.filter { $0.name.hasPrefix(group) && $0.name != command.name }
        let settings = command.acceptsSettings ? [Self.reference("pushfan.yaml", section: "5")] : []
        addSeeAlso(
            to: &roff, references: [Self.reference("pushfan")] + neighbours.map { Self.reference(Self.name($0)) } + settings)
        roff.add(paragraph: "Read on: \(command.readOn)")
        return roff.text
    }

    private func settings() -> String {
        var roff = begin(
            "pushfan.yaml", section: "5", summary: "settings of pushfan",
            synopsis: "\(Roff.bold("pushfan")) \(Roff.italic("COMMAND")) \(Roff.bold("--config")) \(Roff.italic("FILE"))")
        for paragraph in HelpPage.settingsSources { roff.add(paragraph: paragraph) }
        roff.add(paragraph: "The file is YAML. A dot in a key is one level of it. A key that does not exist is an error.")
        roff.add(section: "SETTINGS")
        var section: Substring?
        for definition in Self.sortedSettings {
            let own = definition.name.contains(".") ? definition.name.prefix { $0 != "." } : "At the top"
            if own != section { roff.add(subsection: String(own)) }
            section = own
            roff.add(item: Roff.bold(definition.name), meaning: Self.meaning(definition))
        }
        roff.add(section: "EXAMPLES")
        roff.add(examples: [
            "kafka:", "  bootstrap_servers: [broker-1:9092, broker-2:9092]", "  group_id: pushfan", "hub:", "  name: shop",
            "worker:", "  max_in_flight: 128",
        ])
        roff.add(
            paragraph:
                "`pushfan config check` checks a file and names every problem. `pushfan config show` shows all that counts.")
        addEnvironment(to: &roff, variables: [("PUSHFAN_CONFIG", "The settings file, where no `--config` names one.")])
        addSeeAlso(to: &roff, references: ["pushfan", "pushfan-config-check", "pushfan-config-show"].map { Self.reference($0) })
        roff.add(paragraph: "Read on: pushfan help configuration, pushfan help hubs")
        return roff.text
    }

    /// The settings, those of a section together, otherwise in the order of the table.
    private static var sortedSettings: [SettingDefinition] {
        SettingsSchema.all.enumerated().sorted { (place(of: $0.element), $0.offset) < (place(of: $1.element), $1.offset) }.map(
            \.element)
    }

    private static func place(of definition: SettingDefinition) -> Int {
        let first = definition.name.contains(".") ? definition.name.prefix { $0 != "." } + "." : ""
        return SettingsSchema.all.firstIndex { first.isEmpty ? !$0.name.contains(".") : $0.name.hasPrefix(first) } ?? 0
    }

    private static func tag(_ flag: Flag) -> String {
        let names = [flag.letter.map { "-\($0)" }, "--" + flag.name].compactMap { $0 }.map(Roff.bold).joined(separator: ", ")
        guard let placeholder = flag.placeholder else { return names }
        return names + (flag.isValueOptional ? "[=\(Roff.italic(placeholder))]" : " " + Roff.italic(placeholder))
    }

    private static func meaning(_ flag: Flag) -> String {
        var text = flag.summary + "."
        if !flag.choices.isEmpty { text += " One of \(flag.choices.map { "`\($0)`" }.joined(separator: ", "))." }
        if flag.isRepeatable && flag.key == nil { text += " May be repeated." }
        if let value = flag.defaultText { text += " The default is `\(value)`." }
        return text
    }

    private static func meaning(_ definition: SettingDefinition) -> String {
        var text = definition.summary + " Expected: \(definition.allowed)."
        if let unit = definition.unit { text += " Counted in \(unit)." }
        if let value = definition.defaultText { text += " The default is `\(value)`." }
        if definition.isSecret { text += " Secret: `\(definition.variable)_FILE` may name a file that has it." }
        return text
    }

    private func addEnvironment(to roff: inout Roff, variables: [(name: String, meaning: String)]) {
        guard !variables.isEmpty else { return }
        roff.add(section: "ENVIRONMENT")
        for (name, meaning) in variables { roff.add(item: Roff.bold(name), meaning: meaning) }
    }

    private func addExitStatus(to roff: inout Roff) {
        roff.add(section: "EXIT STATUS")
        for code in ExitCode.allCases { roff.add(item: Roff.bold(String(code.rawValue)), meaning: code.meaning) }
    }

    private func addSeeAlso(to roff: inout Roff, references: [String]) {
        roff.add(section: "SEE ALSO")
        roff.add(marked: references.joined(separator: ", "))
    }
}
