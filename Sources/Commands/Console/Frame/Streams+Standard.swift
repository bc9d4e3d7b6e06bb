import EventLoop
import Glibc

extension Streams {
    /// The program's own streams. The program ignores SIGPIPE, so that a reader that leaves is noticed when writing.
    ///
    /// - Parameter environment: `NO_COLOR` (no-color.org) and `TERM=dumb` switch colours off.
    /// - Returns: Streams over the three descriptors.
    public static func standard(environment: [String: String]) -> Streams {
        var traits = Traits()
        traits.isTerminal = isatty(STDOUT_FILENO) == 1
        traits.isErrorTerminal = isatty(STDERR_FILENO) == 1
        traits.isInputTerminal = isatty(STDIN_FILENO) == 1
        traits.width = traits.isTerminal ? terminalWidth() : nil
        traits.usesColour =
            traits.isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        return Streams(
            traits: traits,
            write: { FileDescriptor.write($0, to: STDOUT_FILENO) },
            writeError: { _ = FileDescriptor.write($0, to: STDERR_FILENO) },
            readInput: { () throws(CommandFailure) in
                if let bytes = InputFile.readAll(STDIN_FILENO) { return bytes }
                throw CommandFailure(.failed, "standard input cannot be read: \(String(cString: strerror(errno)))")
            },
            readLine: { () throws(CommandFailure) in Swift.readLine() },
            readHiddenLine: { () throws(CommandFailure) in Self.hiddenLine() })
    }

    private static func terminalWidth() -> Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// A line that is not shown (termios(3)). Signals from the keyboard are off meanwhile, as in getpass(3): a program that ends
    /// here would leave a terminal that shows nothing.
    private static func hiddenLine() -> String? {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return Swift.readLine() }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        return Swift.readLine()
    }
}
