/// Text from elsewhere made fit for a terminal: it can move no cursor and begin no line.
enum Sanitised {
    /// One line without control characters; longer texts are cut.
    static func line(_ text: String, atMost limit: Int = 512) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) { result.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        if text.unicodeScalars.count > limit { result.append("…") }
        return String(result)
    }

    /// What a person typed, in quotes; `the value` where it looks like a secret put in the wrong place.
    static func quoted(_ text: String) -> String {
        let folded = text.lowercased()
        let isSecret = ["sharedaccess", "password", "secret", "passphrase"].contains { folded.contains($0) }
        return isSecret ? "the value" : "'\(line(text, atMost: 80))'"
    }

    /// C0, DEL, C1, line separators, and what turns the direction of writing.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
