import Basics
import Foundation
import Testing

/// Words in lines that a person copies.
@Suite struct ShellWordTests {
    @Test(
        arguments: [
            ("order-4711", "order-4711"), ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("$(id)`id`", "'$(id)`id`'"),
            ("\u{1B}[201~\u{3}", #"$'\x1b[201~\x03'"#), ("it's\u{7F}\\", #"$'it\'s\x7f\\'"#), ("a\nb", #"$'a\x0ab'"#),
            ("\u{202E}a\u{85}", #"$'\u202ea\u0085'"#), ("ü🙂", "'ü🙂'"),
        ])
    func aWordIsQuotedAsTheShellReadsIt(text: String, word: String) {
        #expect(ShellWord.of(text) == word)
    }

    @Test(arguments: ["a b", "it's", "\u{1B}[201~\u{3}", "it's\u{7F}\\", "a\nb\tc", "$(id)`id`\"", "'\u{1}'"])
    func theShellMakesTheSameWordOfIt(text: String) throws {
        let (shell, output) = (Process(), Pipe())
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", "printf %s " + ShellWord.of(text)]
        shell.standardOutput = output
        try shell.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        shell.waitUntilExit()
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
}
