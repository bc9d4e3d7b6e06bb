import Testing

@testable import Console

@Suite struct HelpTests {
    @Test(arguments: Command.builtIn.map(\.name))
    func pageHasUsageThreeExamplesAndWhereToReadOn(name: String) throws {
        let command = try #require(Command.builtIn.first { $0.name == name })
        let page = Harness().run(name + " --help")
        #expect(page.code == .done)
        #expect(page.messages.isEmpty)
        #expect(page.output.hasPrefix(command.summary + ".\n"))
        #expect(page.lines.contains { $0.hasPrefix("Usage: pushfan \(name) [flags]") })
        #expect(page.lines.last?.hasPrefix("Read on: ") == true)
        #expect(command.examples.count >= 3)
        #expect(page == Harness().run("help " + name))
        #expect(page == Harness().run(name + " -h"))
    }

    @Test(arguments: Command.builtIn.map(\.name))
    func pageIsNoWiderThanAHundredColumns(name: String) {
        let tooWide = Harness().run(name + " --help").lines.filter { $0.count > 100 }
        #expect(tooWide.isEmpty)
    }

    @Test(arguments: Command.builtIn.map(\.name))
    func everyExampleIsACommandLineThatIsUnderstood(name: String) throws {
        let command = try #require(Command.builtIn.first { $0.name == name })
        for example in command.examples {
            let own = Self.commandLines(example).filter { $0.starts(with: ["pushfan"] + Self.words(name)) }
            let isVersion = example == "pushfan --version"
            #expect(!own.isEmpty || isVersion, "\(example) does not run the command")
            for line in own {
                let arguments = Array(line.dropFirst(1 + Self.words(name).count))
                #expect(throws: Never.self, "\(example)") { try ArgumentParser.parse(arguments, for: command) }
            }
        }
    }

    @Test func overviewNamesEveryCommandOnOneScreen() {
        let overview = Harness().run("--help")
        #expect(overview.output.split(separator: "\n", omittingEmptySubsequences: false).count <= 50)
        let help = Harness().run("help")
        for command in Command.builtIn {
            let words = command.name.split(separator: " ")
            let group = overview.lines.first { $0.hasPrefix("  \(words[0]) … ") }
            #expect(overview.output.contains("  " + command.name + " ") || group?.contains(words.last ?? "") == true)
            #expect(help.output.contains("  " + command.name + " "))
        }
    }

    @Test func aGroupListsItsCommands() {
        for line in ["topics --help", "help topics"] {
            let page = Harness().run(line)
            #expect(page.code == .done)
            #expect(page.output.contains("topics create"))
            #expect(page.output.contains("topics check"))
            #expect(!page.output.contains("enqueue"))
        }
    }

    @Test func aWordBehindAServiceThatIsNoneOfItsCommandsIsNamed() {
        let service = Command(
            "callbacks", .operators, "Serve", examples: [], readOn: "pushfan help", run: { _ in .done })
        let output = Sink()
        let streams = Streams(write: { _ in true }, writeError: output.add, readInput: { () throws(CommandFailure) in [] })
        let program = Program(commands: Command.builtIn + [service])
        let surroundings = Surroundings(streams: streams, environment: [:], now: { 0 })
        #expect(program.run(["callbacks", "lst"], surroundings) == .usage)
        #expect(output.text.contains("did you mean 'callbacks list'?"))
        #expect(program.run(["callbacks"], surroundings) == .done)
        #expect(program.find(["callbacks", "list"])?.command.name == "callbacks list")
    }

    @Test func settingsPageNamesKeysAndDefaults() {
        let page = Harness().run("help settings")
        #expect(page.code == .done)
        #expect(page.lines.contains { $0.hasPrefix("retry.max_attempts") && $0.contains(" 4 ") })
        #expect(page.lines.contains { $0.hasPrefix("hub.connection_string") })
    }

    @Test func exitCodesPageNamesAll() {
        let page = Harness().run("help exit-codes")
        for code in ExitCode.allCases { #expect(page.lines.contains { $0.contains("\(code.rawValue)  \(code.meaning)") }) }
    }

    @Test func flagsShowDefaultAndVariable() {
        let page = Harness().run("topics create --help")
        #expect(page.output.contains("[default: 12]"))
        #expect(page.output.contains("PUSHFAN_KAFKA_BOOTSTRAP_SERVERS]"))
    }

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    /// The simple commands of a line of shell, as words; variables set before a command are left out.
    private static func commandLines(_ text: String) -> [[String]] {
        var lines: [[String]] = [[]]
        var word: String?
        var quote: Character?
        func end(_ lines: inout [[String]], _ word: inout String?) {
            if let finished = word { lines[lines.count - 1].append(finished) }
            word = nil
        }
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                end(&lines, &word)
            } else if character == "|" || character == "&" {
                end(&lines, &word)
                lines.append([])
            } else {
                word = (word ?? "") + String(character)
            }
        }
        end(&lines, &word)
        return lines.map { Array($0.drop { $0.contains("=") && $0.hasPrefix("PUSHFAN_") }) }
    }
}

extension Outcome: Equatable {
    static func == (left: Outcome, right: Outcome) -> Bool {
        left.code == right.code && left.output == right.output && left.messages == right.messages
    }
}
