/// Writes the completion for bash, which needs nothing besides bash 4.4.
struct BashCompletion {
    let table: CompletionTable

    var script: String {
        """
        # Completion of pushfan for bash, as `pushfan completion bash` writes it.
        _pushfan() {
          local IFS=$' \\t\\n' words=() flags=() replies=() files=no word text flag entry prefix='' i
          # A flag with "=" and the words for its value, "=<" where it is a file, "=?" where only "=" joins a value.
          local settings=(\(Self.list(table.settings.flatMap(Self.entries))))
          COMPREPLY=()
          # Bash splits words at "=", which is undone here.
          for ((i = 1; i <= COMP_CWORD; i++)); do
            word="${COMP_WORDS[i]}"
            if [[ ${#words[@]} -gt 0 && ${words[*]: -1} == --* && ($word == = || ${words[*]: -1} == *=) ]]; then
              words[-1]+="$word"
            else
              words+=("$word")
            fi
          done
          word="${words[*]: -1}" text="$word"
          unset 'words[-1]'
          case "${words[*]:0:2} " in
            ' ') replies=(\(Self.list(table.firstWords.map(\.text) + ["--help", "--version"]))) ;;
        \(table.entries.map(arm).joined(separator: "\n"))
        \(table.plainGroups.map { "    '\($0.name) ') replies=(\(Self.list($0.words.map(\.text)))) ;;" }.joined(separator: "\n"))
            *) return ;;
          esac
          [[ " ${words[*]} " != *' -- '* ]] || flags=()
          flag="${words[*]: -1}"
          if [[ $word == --*=* ]]; then
            flag="${word%%=*}" text="${word#*=}"
            [[ ${COMP_WORDS[COMP_CWORD]} != --*=* ]] || prefix="$flag="
          fi
          for entry in "${flags[@]}"; do
            [[ $entry == "$flag="* && ($entry != *'=?'* || $word == --*=*) ]] || continue
            flags=() files=no replies=()
            case "${entry#*=}" in
              '<') files=yes ;;
              '?') ;;
              *) read -r -a replies <<<"${entry#*=}" ;;
            esac
            break
          done
          [[ ${#flags[@]} -eq 0 || $word != -* ]] || replies=("${flags[@]%%=*}")
          for entry in "${replies[@]}"; do [[ $entry != "$text"* ]] || COMPREPLY+=("$prefix$entry"); done
          # Without a reply bash then completes files.
          [[ $files == no || $word == -* && $word != *=* ]] || compopt -o default
        }
        complete -F _pushfan pushfan

        """
    }

    private func arm(_ entry: CompletionTable.Entry) -> String {
        let settings = entry.acceptsSettings ? #" "${settings[@]}""# : ""
        var lines = ["    '\(entry.name) '*)", "      flags=(\(Self.list(entry.options.flatMap(Self.entries)))\(settings))"]
        switch entry.operand {
        case .files: lines.append("      files=yes")
        case .words(let words) where !entry.explainsCommands: lines.append("      replies=(\(Self.list(words)))")
        default: break
        }
        let seconds = table.words(behind: entry).map(\.text)
        if !seconds.isEmpty { lines.append("      [[ ${#words[@]} -gt 1 ]] || replies=(\(Self.list(seconds)))") }
        if entry.explainsCommands {
            let words = Self.list((table.firstWords + table.topics).map(\.text))
            lines += [#"      case "${words[*]:1} " in"#, "        ' ' | '--page ') replies=(\(words)) ;;"]
            lines += table.groups.map { "        '\($0.name) ') replies=(\(Self.list($0.words.map(\.text)))) ;;" }
            lines.append("      esac")
        }
        return lines.joined(separator: "\n") + "\n      ;;"
    }

    private static func entries(_ option: CompletionTable.Option) -> [String] {
        let value =
            switch option.values {
            case .none: ""
            case .text where option.isValueOptional: "=?"
            case .text: "="
            case .files: "=<"
            case .words(let words): "=" + words.joined(separator: " ")
            }
        return ([option.letter].compactMap { $0 } + [option.name]).map { $0 + value }
    }

    private static func list(_ words: [String]) -> String {
        words.map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }.joined(separator: " ")
    }
}
