import Basics

/// Text from elsewhere made fit for a terminal: it can move no cursor and begin no line.
enum Sanitised {
    /// One line without control characters. Longer texts are cut.
    static func line(_ text: String, atMost limit: Int = 512) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) { result.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        if text.unicodeScalars.count > limit { result.append("…") }
        return String(result)
    }

    /// The same JSON, or text of ours, without characters that a terminal acts on or that turn the direction of writing. C1, DEL, line
    /// separators and the like become escapes with `\u`. JSON can have them in strings only, where that is the same.
    static func bytes(_ bytes: [UInt8]) -> [UInt8] {
        // Each of them begins with one of these bytes, and most output has none.
        guard bytes.contains(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else { return bytes }
        var result = String.UnicodeScalarView()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            guard isControl(scalar), scalar.value >= 0x7F else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            result.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
        }
        return Array(String(result).utf8)
    }

    /// The text that a person typed, in quotes, or `the value` for a text that resembles a misplaced secret.
    static func quoted(_ text: String) -> String {
        let folded = text.lowercased()
        let isSecret = ["sharedaccess", "password", "secret", "passphrase", "pf_", "whsec_"].contains { folded.contains($0) }
        return isSecret ? "the value" : "'\(line(text, atMost: 80))'"
    }

    /// A word of a line that a person copies, as a shell reads it. Longer ones are cut.
    static func word(_ text: String) -> String { ShellWord.of(String(String.UnicodeScalarView(text.unicodeScalars.prefix(512)))) }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { ShellWord.isControl(scalar) }
}
