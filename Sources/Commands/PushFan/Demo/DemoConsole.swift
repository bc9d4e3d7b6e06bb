import Console
import Glibc
import Synchronization

/// Runs commands of pushfan's inside this process, and shows their output.
struct DemoConsole {
    let environment: [String: String]
    let text: DemoText

    /// Runs a command of the words behind the program's name, and shows `name` in place of a path among them.
    func run(_ words: [String], path: String = "", shownAs name: String = "", lines: Int = .max) throws {
        let (output, messages) = (Sink(), Sink())
        var traits = Streams.Traits()
        traits.width = DemoText.width - 2
        let streams = Streams(
            traits: traits, write: output.add, writeError: { _ = messages.add($0) },
            readInput: { () throws(CommandFailure) in [] })
        func shown(_ text: String) -> String { path.isEmpty ? text : text.replacing(path, with: name) }
        let line = words.map { $0.contains(" ") ? "'\($0)'" : $0 }.joined(separator: " ")
        try text.show(["", "$ pushfan \(shown(line))"])
        let code = Program(commands: Command.builtIn).run(
            words, Surroundings(streams: streams, environment: environment, now: Surroundings.process().now))
        try goOn()
        guard code == .done else { throw CommandFailure(.failed, "pushfan \(line): \(messages.text)") }
        let printed = shown(output.text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try text.show(Array(printed.prefix(lines).prefix { !$0.isEmpty }))
    }

    /// Ends the demo if a signal came. A command may have caught signals, which are to end the demo as before.
    private func goOn() throws {
        if Interruption.isRequested { throw CommandFailure(Interruption.exitCode, "interrupted") }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }

    /// Remembers the written bytes.
    private final class Sink: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        func add(_ more: [UInt8]) -> Bool {
            bytes.withLock { $0 += more }
            return true
        }

        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    }
}
