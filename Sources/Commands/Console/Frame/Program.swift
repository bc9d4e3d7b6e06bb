import Basics
import Kafka

/// The program as a table of commands.
public struct Program: Sendable {
    /// The program's version.
    public static let version = "0.1.0"

    /// Every command, in the order of the overview.
    public let commands: [Command]
    /// The commit of the program.
    public let build: Build

    /// A program with these commands. `help` is among them or not, `--help` always works.
    public init(commands: [Command], build: Build = Build()) {
        self.commands = commands
        self.build = build
    }

    /// Runs one command line.
    ///
    /// - Parameters:
    ///   - line: Everything behind the program's name.
    ///   - surroundings: Streams, environment, clock.
    /// - Returns: The exit code of the program.
    public func run(_ line: [String], _ surroundings: Surroundings) -> ExitCode {
        do throws(CommandFailure) {
            let code = try start(line, surroundings)
            try surroundings.streams.flush()
            return code
        } catch {
            try? surroundings.streams.flush()
            return report(error, line, surroundings.streams)
        }
    }

    private func start(_ line: [String], _ surroundings: Surroundings) throws(CommandFailure) -> ExitCode {
        let words = line.prefix(2).prefix { !$0.hasPrefix("-") }
        if words.isEmpty { return try startWithoutCommand(line, surroundings.streams) }
        guard let (command, used) = find(words) else {
            return try startGroup(line, words[0], surroundings.streams)
        }
        if used < words.count, command.maximumOperands == 0, commands.contains(where: { $0.name.hasPrefix(command.name + " ") }) {
            return try startGroup(line, words[0], surroundings.streams)
        }
        let arguments = try ArgumentParser.parse(Array(line.dropFirst(used)), for: command)
        if arguments.has("help") {
            try surroundings.streams.out(HelpPage(surroundings.streams.traits).page(of: command))
            return .done
        }
        let watch = BrokerWatch(now: surroundings.instant) { notice in
            surroundings.streams.note("pushfan \(command.name): \(Sanitised.line(notice.line))")
        }
        defer { watch.end() }
        return try command.run(
            Invocation(
                program: self, command: command, arguments: arguments, surroundings: surroundings, brokerWatch: watch))
    }

    /// `pushfan`, `pushfan --help`, `pushfan --version`.
    private func startWithoutCommand(_ line: [String], _ streams: Streams) throws(CommandFailure) -> ExitCode {
        switch line.first {
        case "--version":
            try streams.out("pushfan \(Self.version)")
        case "--help", "-h":
            try streams.out(HelpPage(streams.traits).overview(of: commands))
        case nil:
            streams.note(HelpPage(streams.traits).overview(of: commands))
            return .usage
        case .some(let flag):
            throw .usage("the command comes first, then its flags: \(Sanitised.quoted(flag)) is no command")
        }
        return .done
    }

    /// `pushfan topics --help`, and words that are no command.
    private func startGroup(_ line: [String], _ word: String, _ streams: Streams) throws(CommandFailure) -> ExitCode {
        let group = commands.filter { $0.name.hasPrefix(word + " ") }
        guard !group.isEmpty else { throw unknown(word) }
        if line.contains("--help") || line.contains("-h") {
            try streams.out(HelpPage(streams.traits).list(group))
            return .done
        }
        let names = group.map { "'\($0.name)'" }.joined(separator: ", ")
        let second = line.dropFirst().first { !$0.hasPrefix("-") }
        let nearest = second.flatMap { Spelling.nearest(to: "\(word) \($0)", among: group.map(\.name)) }
        throw .usage("'\(word)' is followed by one more word: \(names)", hint: nearest.map { "did you mean '\($0)'?" })
    }

    /// The command that the words begin with, and how many words name it.
    func find(_ words: some Collection<String>) -> (command: Command, wordCount: Int)? {
        for count in stride(from: min(2, words.count), to: 0, by: -1) {
            let name = words.prefix(count).joined(separator: " ")
            if let command = commands.first(where: { $0.name == name }) { return (command, count) }
        }
        return nil
    }

    func unknown(_ word: String) -> CommandFailure {
        let names = commands.map { String($0.name.prefix { $0 != " " }) }
        let nearest = Spelling.nearest(to: word, among: Array(Set(names)).sorted())
        return .usage(
            "there is no command \(Sanitised.quoted(word))",
            hint: nearest.map { "did you mean '\($0)'?" } ?? "`pushfan help` lists the commands")
    }

    private func report(_ failure: CommandFailure, _ line: [String], _ streams: Streams) -> ExitCode {
        let name = find(line.prefix(2).prefix { !$0.hasPrefix("-") }).map { " " + $0.command.name } ?? ""
        for text in failure.message.split(separator: "\n") { streams.note("pushfan\(name): \(text)") }
        if let hint = failure.hint { streams.note(hint) }
        if failure.code == .usage && failure.hint == nil && !failure.message.isEmpty {
            streams.note("`pushfan help\(name)` shows how it is used")
        }
        return failure.code
    }
}
