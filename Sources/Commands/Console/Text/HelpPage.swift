import Pages

/// Lays out help: one line, usage, examples, flags, where to read on.
struct HelpPage {
    static let purpose = "pushfan turns push requests on Kafka into notification hub calls, and records one result for each."
    static let settingsAreFlags =
        "Every setting is a flag as well, such as --kafka.group_id NAME; `pushfan help settings` lists them."
    static let settingsSources = [
        "Settings come from flags, then the environment, then the file of --config or PUSHFAN_CONFIG, then the default.",
        "A key such as kafka.group_id is the flag --kafka.group_id and the variable PUSHFAN_KAFKA_GROUP_ID.",
        "Secrets can be read from a file instead: PUSHFAN_HUB_CONNECTION_STRING_FILE names it.",
    ]

    private let traits: Streams.Traits
    /// The column at which the description of a flag begins.
    private static let indent = 30
    private static let width = 100
    /// The most commands of a group that have a row each where all must fit on one screen.
    private static let mostShown = 4

    init(_ traits: Streams.Traits) {
        self.traits = traits
    }

    func page(of command: Command) -> String {
        let operands = command.operands.isEmpty ? "" : " " + command.operands
        var lines = [command.summary + ".", ""]
        lines += ["\(title("Usage:")) pushfan \(command.name) [flags]\(operands)", "", title("Examples:")]
        lines += command.examples.map { "  " + $0 }
        for group in command.groups where !group.flags.isEmpty {
            lines += ["", title(group.title + ":")] + group.flags.flatMap(rows)
        }
        lines += ["", title("Help:")] + rows(Command.helpFlag)
        if command.acceptsSettings {
            lines += ["", Self.settingsAreFlags]
        }
        lines.append((command.acceptsSettings ? "" : "\n") + "Read on: \(command.readOn)")
        return lines.joined(separator: "\n")
    }

    /// All commands on one screen, and below them the topics.
    func overview(of commands: [Command], topics: [Page] = []) -> String {
        var lines = [
            Self.purpose,
            "\(title("Usage:")) pushfan COMMAND [flags] [arguments]",
        ]
        for section in Command.Section.allCases {
            let members = commands.filter { $0.section == section }
            // Without topics all of it fits on one screen, for which it has no empty lines, and large groups a line each.
            let (gap, rows) = topics.isEmpty ? ([], folded(members)) : ([""], members.map(row))
            if !members.isEmpty { lines += gap + [title(section.rawValue + ":")] + rows }
        }
        if !topics.isEmpty { lines += ["", title("Topics:")] + topics.flatMap(topicRows) + [""] }
        lines += ["Read on: pushfan help COMMAND, TOPIC, settings, filters or exit-codes; pushfan help lists topics."]
        return lines.joined(separator: "\n")
    }

    func list(_ commands: [Command]) -> String {
        let group = String(commands.first?.name.prefix { $0 != " " } ?? "")
        let isTopic = Page.all.contains { $0.topic == group }
        let readOn = "Read on: pushfan help COMMAND" + (isTopic ? ", pushfan help --page \(group)." : ".")
        return ([title("Commands:")] + commands.map(row) + ["", readOn]).joined(separator: "\n")
    }

    /// A row for each command. Of a group with many, one row with the second words of all.
    private func folded(_ commands: [Command]) -> [String] {
        var (rows, groups) = ([String](), Set<Substring>())
        for command in commands {
            let group = command.name.prefix { $0 != " " }
            let members = commands.filter { $0.name.hasPrefix(group + " ") }
            guard command.name.contains(" "), members.count > Self.mostShown else {
                rows.append(row(command))
                continue
            }
            guard groups.insert(group).inserted else { continue }
            let words = members.map { $0.name.dropFirst(group.count + 1) }.joined(separator: ", ")
            rows.append("  " + (group + " …").padding(to: 16) + words)
        }
        return rows
    }

    private func row(_ command: Command) -> String {
        "  " + command.name.padding(to: 16) + command.summary
    }

    private func topicRows(_ page: Page) -> [String] {
        let name = "  " + page.topic.padding(to: 16)
        let blank = String(repeating: " ", count: name.count)
        return Self.wrap(page.summary, to: Self.width - name.count).enumerated().map { ($0 == 0 ? name : blank) + $1 }
    }

    private func title(_ text: String) -> String { Colour.bold.paint(text, traits) }

    private func rows(_ flag: Flag) -> [String] {
        var text = flag.summary
        if !flag.choices.isEmpty && flag.placeholder != flag.choices.joined(separator: "|") {
            text += ": " + flag.choices.joined(separator: ", ")
        }
        if flag.isRepeatable && flag.key == nil { text += " (repeatable)" }
        if let value = flag.defaultText { text += " " + Self.whole("[default: \(value)]") }
        if let variable = flag.variable { text += " " + Self.whole("[env: \(variable)]") }
        let wrapped = Self.wrap(text, to: Self.width - Self.indent)
        let name = "  " + (flag.letter == nil ? "    " : "") + flag.spelling
        let blank = String(repeating: " ", count: Self.indent)
        guard name.count < Self.indent - 1 else { return [name] + wrapped.map { blank + $0 } }
        return wrapped.enumerated().map { $0 == 0 ? name.padding(to: Self.indent) + $1 : blank + $1 }
    }

    /// Words that stay on one line.
    private static func whole(_ text: String) -> String { text.replacing(" ", with: "\u{A0}") }

    private static func wrap(_ text: String, to width: Int) -> [String] {
        DisplayWidth.wrap(text, to: width).map { $0.replacing("\u{A0}", with: " ") }
    }
}

extension String {
    /// The text with blanks up to `width`, and one at least.
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
