/// Writes the completion for fish 3.
struct FishCompletion {
    let table: CompletionTable

    var script: String {
        let settings = table.entries.filter(\.acceptsSettings).map { Self.quoted($0.name) }.joined(separator: " ")
        return """
            # Completion of pushfan for fish, as `pushfan completion fish` writes it.

            function __pushfan_follows -d 'True if exactly these words stand before the cursor'
                set -l before (commandline -opc)
                test "$before[2..]" = "$argv"
            end

            function __pushfan_within -d 'True if these words begin what stands before the cursor'
                set -l before (commandline -opc)
                test (count $before) -gt (count $argv); and test "$before[2..$(math 1 + (count $argv))]" = "$argv"
            end

            function __pushfan_takes_settings
                for name in \(settings)
                    __pushfan_within (string split ' ' -- $name); and return 0
                end
                return 1
            end

            complete -c pushfan -e
            complete -c pushfan -f
            complete -c pushfan -n __pushfan_follows -s h -l help -d 'Show the commands'
            complete -c pushfan -n __pushfan_follows -l version -d 'Print the version'

            """ + lines.joined(separator: "\n") + "\n"
    }

    private var lines: [String] {
        var lines = Self.words(table.firstWords, after: "")
        for group in table.groups { lines += Self.words(group.words, after: group.name) }
        for entry in table.entries {
            let others = table.words(behind: entry).map { "; and not __pushfan_within \(entry.name) \($0.text)" }.joined()
            lines += entry.options.map { Self.line($0, where: "__pushfan_within " + entry.name + others) }
            lines += operands(of: entry)
        }
        return lines + table.settings.map { Self.line($0, where: "__pushfan_takes_settings") }
    }

    private func operands(of entry: CompletionTable.Entry) -> [String] {
        let condition = "complete -c pushfan -n '__pushfan_within \(entry.name)'"
        if entry.explainsCommands {
            let words = table.firstWords + table.topics
            return ["", " --page"].flatMap { Self.words(words, after: entry.name + $0) }
                + table.groups.flatMap { Self.words($0.words, after: "\(entry.name) \($0.name)") }
        }
        switch entry.operand {
        case .files: return [condition + " -F"]
        case .words(let words): return [condition + " -a \(Self.quoted(words.joined(separator: " ")))"]
        case .none, .text: return []
        }
    }

    private static func words(_ words: [CompletionTable.Word], after before: String) -> [String] {
        let condition = before.isEmpty ? "__pushfan_follows" : quoted("__pushfan_follows " + before)
        return words.map { "complete -c pushfan -n \(condition) -a \(quoted($0.text)) -d \(quoted($0.summary))" }
    }

    private static func line(_ option: CompletionTable.Option, where condition: String) -> String {
        let letter = option.letter.map { " -s \($0.dropFirst())" } ?? ""
        let value =
            switch option.values {
            case .none: ""
            case .text: option.isValueOptional ? "" : " -x"
            case .files: " -r -F"
            case .words(let words): " -x -a \(quoted(words.joined(separator: " ")))"
            }
        let name = String(option.name.dropFirst(2))
        return "complete -c pushfan -n \(quoted(condition))\(letter) -l \(name)\(value) -d \(quoted(option.summary))"
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#) + "'"
    }
}
