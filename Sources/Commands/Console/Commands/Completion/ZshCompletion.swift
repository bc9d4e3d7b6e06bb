/// Writes the completion for zsh with its completion system.
struct ZshCompletion {
    let table: CompletionTable

    var script: String {
        """
        #compdef pushfan
        # Completion of pushfan for zsh, as `pushfan completion zsh` writes it.

        _pushfan_words() { # the words before: those that may follow
          local -a list
          case "$1" in
            ('')
              list=(
        \(Self.descriptions(table.firstWords))
              ) ;;
            ('help')
              list=(
        \(Self.descriptions(table.topics))
              ) ;;
        \(table.groups.map(group).joined(separator: "\n"))
          esac
          (( $#list )) && _describe -t commands 'command' list
        }

        _pushfan() {
          local curcontext="$curcontext" name
          local -i used=1
          local -a settings=(
        \(Self.lines(table.settings.flatMap(Self.specifications), indent: 4))
          )
          case "$words[2]" in
            (\(table.plainGroups.map(\.name).joined(separator: "|"))) used=2 ;;\(table.entries.map(turn).joined())
          esac
          if (( CURRENT == 2 )) && [[ "$words[2]" == -* ]]; then
            _arguments '(- *)'{-h,--help}'[Show the commands]' '(- *)--version[Print the version]'
            return
          fi
          if (( CURRENT <= used + 1 )); then
            _pushfan_words "${(j: :)words[2,CURRENT-1]}"
            return
          fi
          name="${(j: :)words[2,used+1]}"
          words=("$name" "${(@)words[used+2,-1]}")
          (( CURRENT -= used ))
          case "$name" in
        \(table.entries.map(arm).joined(separator: "\n"))
            (*) _message 'no such command' ;;
          esac
        }

        if [[ "$funcstack[1]" == _pushfan ]]; then _pushfan "$@"; else compdef _pushfan pushfan; fi

        """
    }

    /// Behind a command that is also the first word of others, all but flags are their second words.
    private func turn(_ entry: CompletionTable.Entry) -> String {
        table.words(behind: entry).isEmpty ? "" : #"\#n    (\#(entry.name)) [[ "$words[3]" == -* ]] || used=2 ;;"#
    }

    private func group(_ group: (name: String, words: [CompletionTable.Word])) -> String {
        "    ('\(group.name)')\n      list=(\n\(Self.descriptions(group.words))\n      ) ;;"
    }

    private func arm(_ entry: CompletionTable.Entry) -> String {
        var specifications = entry.options.flatMap(Self.specifications)
        let count = entry.maximumOperands == 1 ? "1" : "*"
        switch entry.operand {
        case .files: specifications.append("\(count):file:_files")
        case .words(let words) where !entry.explainsCommands:
            specifications.append("\(count):word:(\(words.joined(separator: " ")))")
        case .text: specifications.append("*: : ")
        default: break
        }
        if entry.explainsCommands {
            specifications += [#"1:command or topic:{_pushfan_words ""; _pushfan_words help}"#]
            specifications += [#"2:command:{_pushfan_words "$words[2]"}"#]
        }
        let settings = entry.acceptsSettings ? #" "$settings[@]""# : ""
        return "    ('\(entry.name)')\n      _arguments -S :\(settings) \\\n"
            + specifications.map { "        " + Self.quoted($0) }.joined(separator: " \\\n") + "\n      ;;"
    }

    /// A specification for `_arguments` for each of its spellings.
    private static func specifications(_ option: CompletionTable.Option) -> [String] {
        let spellings = [option.letter, option.name].compactMap { $0 }
        let others = option.isRepeatable ? "*" : spellings.count > 1 ? "(\(spellings.joined(separator: " ")))" : ""
        let message = escaped(option.placeholder, marks: [":"])
        let action =
            switch option.values {
            case .none: ""
            case .text: ":\(message): "
            case .files: ":\(message):_files"
            case .words(let words): ":value:(\(words.joined(separator: " ")))"
            }
        return spellings.map { spelling in
            let end = option.values == .none ? "" : spelling == option.letter ? "+" : option.isValueOptional ? "=-" : "="
            let optional = option.isValueOptional && !action.isEmpty ? ":" : ""
            return "\(others)\(spelling)\(end)[\(escaped(option.summary, marks: ["[", "]", ":"]))]\(optional)\(action)"
        }
    }

    private static func descriptions(_ words: [CompletionTable.Word]) -> String {
        lines(words.map { "\($0.text):\(escaped($0.summary, marks: [":"]))" }, indent: 8)
    }

    private static func lines(_ texts: [String], indent: Int) -> String {
        texts.map { String(repeating: " ", count: indent) + quoted($0) }.joined(separator: "\n")
    }

    private static func escaped(_ text: String, marks: Set<Character>) -> String {
        String(text.flatMap { $0 == "\\" || marks.contains($0) ? ["\\", $0] : [$0] })
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
}
