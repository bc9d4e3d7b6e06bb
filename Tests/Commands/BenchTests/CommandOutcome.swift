import Console
import Synchronization

/// The end of a command line of the bench.
struct CommandOutcome {
    private final class Said: Sendable {
        let text = Mutex("")
    }

    let code: ExitCode
    let output: String
    let messages: String

    /// Runs a command line without any environment.
    init(_ line: String, of commands: [Command]) {
        let (output, messages) = (Said(), Said())
        let streams = Streams(
            write: { bytes in
                output.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                return true
            },
            writeError: { bytes in messages.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } },
            readInput: { () throws(CommandFailure) in [] })
        let surroundings = Surroundings(streams: streams, environment: [:], now: { 0 })
        code = Program(commands: commands).run(line.split(separator: " ").map(String.init), surroundings)
        self.output = output.text.withLock { $0 }
        self.messages = messages.text.withLock { $0 }
    }
}
