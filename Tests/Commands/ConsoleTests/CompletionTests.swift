import Pages
import Settings
import Testing

@testable import Console

@Suite struct CompletionTests {
    /// A summary with every mark that some shell reads as its own.
    private static let hostile = Command(
        "odd thing", .everyone, "It's [a] \"b\" c:d \\e $f `g`\nh", operands: "FILE", maximumOperands: 1, examples: [],
        groups: [
            FlagGroup(
                "Odd",
                [
                    Flag("level", "LOW|HIGH", "It's [a]: $b", letter: "l", choices: ["low", "high"]),
                    Flag("at", "HOST:PORT", "Where", isRepeatable: true), Flag("wait", "DURATION", "Wait", isValueOptional: true),
                ])
        ], readOn: "pushfan help", acceptsSettings: false, run: { _ in .done })
    private static let oddTable = CompletionTable([hostile], settings: [], pages: [])
    private static let table = CompletionTable(Command.builtIn)

    @Test(arguments: [
        ("version", "--output", CompletionTable.Values.words(["table", "json"])), ("version", "--help", .none),
        ("enqueue", "--audience-file", .files), ("enqueue", "--ttl", .text), ("topics create", "--config", .files),
        ("topics create", "--listen", .text), ("emulator", "--record", .words(["full", "light", "off"])),
    ])
    func aFlagHasTheValuesThatTheParserTakes(command: String, name: String, values: CompletionTable.Values) throws {
        let entry = try #require(Self.table.entries.first { $0.name == command })
        #expect(entry.options.first { $0.name == name }?.values == values)
    }

    @Test(arguments: [
        ("--kafka.delivery_guarantee", CompletionTable.Values.words(["exactly_once", "at_least_once"])),
        ("--gateway.demo_auth", .words(["true", "false"])), ("--gateway.users_file", .files), ("--kafka.group_id", .text),
    ])
    func aSettingHasTheValuesThatItsTypeTakes(name: String, values: CompletionTable.Values) {
        #expect(Self.table.settings.first { $0.name == name }?.values == values)
    }

    @Test(arguments: [
        ("completion", CompletionTable.Values.words(["bash", "zsh", "fish"])), ("config check", .files), ("cancel", .text),
        ("users list", .none), ("schema", .words(["request", "result", "outcome", "asyncapi", "openapi"])),
    ])
    func operandsAreReadFromTheUsage(command: String, values: CompletionTable.Values) {
        #expect(Self.table.entries.first { $0.name == command }?.operand == values)
    }

    @Test func everyFlagAndSettingOfACommandIsOfferedOnce() {
        for command in Command.builtIn {
            let entry = Self.table.entries.first { $0.name == command.name }
            let offered = (entry?.options ?? []) + (command.acceptsSettings ? Self.table.settings : [])
            let shared = command.acceptsSettings ? SettingsSchema.all.map(\.name) + ["config"] : []
            let known = Set(command.flags.map(\.name) + shared).map { "--" + $0 }
            #expect(offered.map(\.name).sorted() == known.sorted(), "\(command.name)")
        }
    }

    @Test func everyWordNeedsNoQuotes() {
        let words = Self.table.entries.flatMap { [$0.operand] + $0.options.map(\.values) } + Self.table.settings.map(\.values)
        for case .words(let list) in words {
            for word in list { #expect(word.wholeMatch(of: #/[A-Za-z0-9._-]+/#) != nil, "\(word)") }
        }
    }

    @Test func bashGetsFlagsWithTheirValues() {
        let script = BashCompletion(table: Self.oddTable).script
        #expect(script.contains("'-l=low high' '--level=low high' '--at=' '--wait=?' '-h' '--help'"))
        #expect(script.contains("' ') replies=('odd' '--help' '--version') ;;"))
        #expect(!script.contains("`g`"))
    }

    @Test func zshGetsMarksWithBackslashes() {
        let script = ZshCompletion(table: Self.oddTable).script
        #expect(script.contains(#"'thing:It'\''s [a] "b" c\:d \\e $f `g` h'"#))
        #expect(script.contains(#"'(-l --level)--level=[It'\''s \[a\]\: $b]:value:(low high)'"#))
        #expect(script.contains(#"'*--at=[Where]:HOST\:PORT: '"#))
        #expect(script.contains("'--wait=-[Wait]::DURATION: '"))
        #expect(script.contains("'1:file:_files'"))
    }

    @Test func fishGetsQuotesAndBackslashesWithBackslashes() {
        let script = FishCompletion(table: Self.oddTable).script
        #expect(script.contains(#"-n '__pushfan_follows odd' -a 'thing' -d 'It\'s [a] "b" c:d \\e $f `g` h'"#))
        #expect(script.contains(#"-n '__pushfan_within odd thing' -s l -l level -x -a 'low high' -d 'It\'s [a]: $b'"#))
        #expect(script.contains("-l wait -d 'Wait'"))
        #expect(script.contains("-n '__pushfan_within odd thing' -F"))
    }

    @Test func aCommandThatIsAlsoTheFirstWordOfOthersOffersBoth() {
        func command(_ name: String) -> Command {
            Command(
                name, .everyone, "Works", examples: [], groups: [FlagGroup("Work", [Flag("at", "HOST", "Where")])],
                readOn: "pushfan help", acceptsSettings: false, run: { _ in .done })
        }
        let table = CompletionTable([command("work now"), command("work"), command("rest now")], settings: [], pages: [])
        let bash = BashCompletion(table: table).script
        #expect(bash.contains("[[ ${#words[@]} -gt 1 ]] || replies=('now')"))
        #expect(bash.contains("'rest ') replies=('now') ;;") && !bash.contains("'work ') replies"))
        let zsh = ZshCompletion(table: table).script
        #expect(zsh.contains("(rest) used=2 ;;\n    (work) [[ \"$words[3]\" == -* ]] || used=2 ;;\n"))
        let fish = FishCompletion(table: table).script
        #expect(fish.contains("-n '__pushfan_within work; and not __pushfan_within work now' -l at -x"))
        #expect(fish.contains("-n '__pushfan_follows work' -a 'now'"))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func eachShellHasAScript(shell: String) {
        let said = Harness().run("completion " + shell)
        #expect(said.code == .done)
        #expect(said.output.contains("pushfan completion \(shell)` writes it.\n"))
        #expect(said == Harness().run("completion " + shell))
    }

    @Test(arguments: [("completion", "name the shell"), ("completion tcsh", "there is no completion for 'tcsh'")])
    func anotherShellIsAUsageFailure(line: String, words: String) {
        let said = Harness().run(line)
        #expect(said.code == .usage)
        #expect(said.messages.contains(words), "\(said.messages)")
    }
}
