import Pages
import Settings

/// The command line as shells complete it, without the form of any of them.
struct CompletionTable {
    /// A word of the command line, and what it means in one line.
    struct Word: Equatable {
        let text: String
        let summary: String
    }

    /// The legal values of a flag or an operand, as far as a shell can know them.
    enum Values: Equatable {
        case none, text, files
        /// Each is made of letters, digits, dots, hyphens and low lines.
        case words([String])
    }

    /// A flag, with its dashes.
    struct Option: Equatable {
        let name: String
        let letter: String?
        let summary: String
        /// The word for the value in the help.
        let placeholder: String
        /// `none` for a switch.
        let values: Values
        let isValueOptional: Bool
        let isRepeatable: Bool
    }

    /// A command of one or two words.
    struct Entry: Equatable {
        let name: String
        let options: [Option]
        /// `settings` are among its options.
        let acceptsSettings: Bool
        let operand: Values
        let maximumOperands: Int
        /// The operands are the words of a command, or a topic.
        let explainsCommands: Bool
    }

    /// The first words of commands, in the order of the overview.
    let firstWords: [Word]
    /// The second words of those that have two, by the first.
    let groups: [(name: String, words: [Word])]
    /// The words behind `help` that are no command.
    let topics: [Word]
    let entries: [Entry]
    /// The settings that are a flag of most commands.
    let settings: [Option]

    /// The second words that may follow a command of one word, besides its flags.
    func words(behind entry: Entry) -> [Word] { groups.first { $0.name == entry.name }?.words ?? [] }

    /// The groups whose first word is no command by itself.
    var plainGroups: [(name: String, words: [Word])] { groups.filter { group in !entries.contains { $0.name == group.name } } }
}

extension CompletionTable {
    private static let filePlaceholders = ["FILE", "PLAN", "DIR"]

    /// Describes a program.
    ///
    /// - Parameters:
    ///   - commands: The commands, in the order of the overview.
    ///   - definitions: The settings.
    ///   - pages: The topics that `help` has besides.
    init(_ commands: [Command], settings definitions: [SettingDefinition] = SettingsSchema.all, pages: [Page] = Page.all) {
        let parts = commands.map { (words: $0.name.split(separator: " ").map { String($0) }, command: $0) }
        var groups: [(name: String, words: [Word])] = []
        for (words, command) in parts where words.count == 2 {
            let word = Word(text: words[1], summary: Self.line(command.summary))
            if let place = groups.firstIndex(where: { $0.name == words[0] }) {
                groups[place].words.append(word)
            } else {
                groups.append((words[0], [word]))
            }
        }
        let names = parts.map { $0.words[0] }
        let firsts = names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }.map(\.element)
        firstWords = firsts.map { name in
            let others = groups.first { $0.name == name }?.words.map(\.text).joined(separator: ", ") ?? ""
            return Word(text: name, summary: commands.first { $0.name == name }.map { Self.line($0.summary) } ?? others)
        }
        self.groups = groups
        let fixed = [("settings", "Every setting"), ("filters", "Filters of results"), ("exit-codes", "The exit codes")]
        topics = (fixed + pages.map { ($0.topic, $0.summary) }).filter { !firsts.contains($0.0) }
            .map { Word(text: $0.0, summary: Self.line($0.1)) }
        // A setting with the name of some command's own flag stands among the flags of each command.
        let own = Set(commands.flatMap { $0.flags.map(\.name) })
        let clashing = definitions.filter { own.contains($0.name) }.map { Self.option($0) }
        settings = definitions.filter { !own.contains($0.name) }.map { Self.option($0) }
        entries = commands.map { command in
            let options = command.flags.map { flag in Self.option(flag, for: definitions.first { $0.name == flag.key }) }
            let more = command.acceptsSettings ? [Self.option(FlagGroup.configFile)] + clashing : []
            let names = options.map(\.name)
            let tokens = command.operands.split { !$0.isLetter && $0 != "-" }.map { String($0) }
            return Entry(
                name: command.name, options: options + more.filter { !names.contains($0.name) },
                acceptsSettings: command.acceptsSettings, operand: Self.operand(tokens),
                maximumOperands: command.maximumOperands, explainsCommands: tokens.contains("COMMAND"))
        }
    }

    /// Words in small letters are legal as they are. `FILE` stands for files.
    private static func operand(_ tokens: [String]) -> Values {
        if tokens.isEmpty { return .none }
        if tokens.contains(where: filePlaceholders.contains) { return .files }
        let words = tokens.filter { $0 != "-" && $0 == $0.lowercased() }
        return words.isEmpty ? .text : .words(words)
    }

    private static func option(_ flag: Flag, for definition: SettingDefinition? = nil) -> Option {
        let words = flag.choices.isEmpty ? definition?.choices ?? [] : flag.choices
        return Option(
            name: "--" + flag.name, letter: flag.letter.map { "-\($0)" }, summary: line(flag.summary),
            placeholder: flag.placeholder ?? "",
            values: values(of: flag, among: words), isValueOptional: flag.isValueOptional, isRepeatable: flag.isRepeatable)
    }

    private static func values(of flag: Flag, among words: [String]) -> Values {
        guard let placeholder = flag.placeholder else { return .none }
        guard words.isEmpty else { return .words(words) }
        return filePlaceholders.contains(placeholder) ? .files : .text
    }

    private static func option(_ definition: SettingDefinition) -> Option {
        let isPath = ["_file", "_dir"].contains { definition.name.hasSuffix($0) }
        return option(Flag(definition.name, isPath ? "FILE" : "VALUE", for: definition), for: definition)
    }

    private static func line(_ text: String) -> String { text.split(whereSeparator: \.isNewline).joined(separator: " ") }
}
