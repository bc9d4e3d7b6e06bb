import Basics

/// The texts by which names and values of settings are shown to a person.
enum SettingText {
    private static let limit = 64
    private static let secretWords = ["sharedaccesskey", "password", "secret"]

    /// A value in quotes, cut at 64 characters, without control characters. A value that resembles a misplaced secret is not
    /// shown.
    static func shown(_ value: String) -> String {
        let folded = value.lowercased()
        let isURLWithLogin = folded.contains("://") && folded.contains("@")
        guard !isURLWithLogin, !secretWords.contains(where: folded.contains) else { return "the value" }
        let visible = value.unicodeScalars.prefix(limit).map { isControl($0) ? "\u{FFFD}" : Character($0) }
        return "\"" + String(visible) + (value.unicodeScalars.count > limit ? "…" : "") + "\""
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }

    /// `a, b or c`.
    static func choice(_ words: [String]) -> String {
        guard words.count > 1, let last = words.last else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The known name that a mistyped one most likely means: one that differs in few letters, or the only one that ends with what
    /// was typed. `separator` is the text between a section and a key.
    static func nearest(to name: String, among known: [String], separator: String) -> String? {
        let endings = known.filter { $0.hasSuffix(separator + name) }
        if endings.count == 1 { return endings[0] }
        guard name.utf8.count <= limit else { return nil }
        let allowance = max(2, name.utf8.count / 5)
        let ranked = known.map { (name: $0, distance: Spelling.distance(from: name, to: $0)) }
        return ranked.filter { $0.distance <= allowance }.min { $0.distance < $1.distance }?.name
    }
}
