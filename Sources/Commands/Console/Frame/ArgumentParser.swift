import Basics
import Settings

/// Reads a command line by the flags of one command.
///
/// `--name value`, `--name=value`, `-n value`, `-nvalue`. Switches take no value, and an optional value is joined by the equals
/// sign. `--` ends the flags. `-` is an operand, and if a filter may stand there, so is `-hub:shop`.
struct ArgumentParser {
    private let command: Command
    private var result = Arguments()
    private var rest: ArraySlice<String>

    private init(_ command: Command, _ arguments: [String]) {
        self.command = command
        rest = arguments[...]
    }

    /// Reads the words behind the command's name. A usage failure has the fault and a likely correction.
    static func parse(_ arguments: [String], for command: Command) throws(CommandFailure) -> Arguments {
        var parser = ArgumentParser(command, arguments)
        while let argument = parser.rest.popFirst() { try parser.take(argument) }
        guard parser.result.operands.count <= command.maximumOperands || parser.result.has("help") else {
            let extra = parser.result.operands[command.maximumOperands]
            throw .usage("\(Sanitised.quoted(extra)) is one argument too many")
        }
        return parser.result
    }

    private mutating func take(_ argument: String) throws(CommandFailure) {
        if argument == "--" {
            result.operands += rest
            rest = []
        } else if argument.hasPrefix("--") {
            try takeLong(argument.dropFirst(2))
        } else if argument.hasPrefix("-") && argument.count > 1 && !isNegatedTerm(argument) {
            try takeShort(argument)
        } else {
            result.operands.append(argument)
        }
    }

    /// More than one letter before a colon: no flag with its value has this form.
    private func isNegatedTerm(_ argument: String) -> Bool {
        guard command.acceptsFilter, let colon = argument.firstIndex(of: ":") else { return false }
        let name = argument[..<colon].dropFirst()
        return name.count > 1 && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    }

    private mutating func takeLong(_ text: Substring) throws(CommandFailure) {
        let equals = text.firstIndex(of: "=")
        let name = String(text[..<(equals ?? text.endIndex)])
        let attached = equals.map { String(text[text.index(after: $0)...]) }
        if let flag = command.flags.first(where: { $0.name == name }) {
            return try take(flag, attached: attached)
        }
        if command.acceptsSettings {
            if name == FlagGroup.configFile.name { return try take(FlagGroup.configFile, attached: attached) }
            if let key = SettingsSchema.all.first(where: { $0.name == name }) {
                return try take(Flag(name, "VALUE", for: key), attached: attached)
            }
        }
        throw unknown("--" + name)
    }

    private mutating func takeShort(_ argument: String) throws(CommandFailure) {
        let letter = argument[argument.index(after: argument.startIndex)]
        guard let flag = command.flags.first(where: { $0.letter == letter }) else { throw unknown(argument) }
        var attached = String(argument.dropFirst(2))
        if attached.hasPrefix("=") { attached.removeFirst() }
        try take(flag, attached: attached.isEmpty ? nil : attached)
    }

    private mutating func take(_ flag: Flag, attached: String?) throws(CommandFailure) {
        guard flag.isRepeatable || !result.has(flag.name) else { throw .usage("--\(flag.name) is given twice") }
        guard let placeholder = flag.placeholder else {
            if attached != nil { throw .usage("--\(flag.name) takes no value") }
            result.values[flag.name] = []
            return
        }
        if flag.isValueOptional && attached == nil {
            result.values[flag.name] = []
            return
        }
        let value: String
        if let attached { value = attached } else { value = try nextValue(of: flag, placeholder) }
        guard flag.choices.isEmpty || flag.choices.contains(value) else {
            throw .usage(
                "--\(flag.name): \(Sanitised.quoted(value)) is not one of \(flag.choices.joined(separator: ", "))")
        }
        if let key = flag.key {
            result.settings.append(SettingFlag(key: key, value: value, spelling: "--" + flag.name))
        } else if flag.name == FlagGroup.configFile.name {
            result.configPath = value
        }
        result.values[flag.name, default: []].append(value)
    }

    private mutating func nextValue(of flag: Flag, _ placeholder: String) throws(CommandFailure) -> String {
        let looksLikeFlag = rest.first.map { next in
            next.hasPrefix("--") && command.flags.contains { "--" + $0.name == next.prefix { $0 != "=" } }
        }
        guard let value = rest.first, looksLikeFlag == false else {
            throw .usage("--\(flag.name) needs a value: --\(flag.name) \(placeholder)")
        }
        rest.removeFirst()
        return value
    }

    private func unknown(_ spelling: String) -> CommandFailure {
        let own = command.flags.flatMap { flag in ["--" + flag.name] + (flag.letter.map { ["-\($0)"] } ?? []) }
        let keys = command.acceptsSettings ? SettingsSchema.all.map { "--" + $0.name } : []
        let hint = Spelling.nearest(to: spelling, among: own) ?? Spelling.nearest(to: spelling, among: keys)
        return .usage("there is no flag \(Sanitised.quoted(spelling))", hint: hint.map { "did you mean \($0)?" })
    }
}
