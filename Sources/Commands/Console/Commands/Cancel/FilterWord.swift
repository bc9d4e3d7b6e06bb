import Replay
import ResultQuery

/// A word in place of an id that looks like a filter: it would cancel nothing, or something else than is meant.
struct FilterWord {
    /// The flag to use instead, as it would be typed, or nil where there is none.
    let flag: String?

    /// Nil for a word that can only be an id. `TOPIC:PARTITION:OFFSET` is one.
    init?(_ word: String) {
        guard RecordPlace(word) == nil else { return nil }
        let text = word.hasPrefix("-") ? word.dropFirst() : word[...]
        guard let end = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
        let (name, value) = (String(text[..<end]), String(text[text.index(after: end)...]))
        let flags = ScopeFlags.names + ["since"]
        if text[end] == ":" {
            guard name.hasPrefix("label.") || flags.contains(name) || FilterWord.fields.contains(name) else { return nil }
        }
        let quoted = Sanitised.word(value)
        if name.hasPrefix("label.") {
            flag = "--label \(Sanitised.word("\(name.dropFirst("label.".count))=\(value)"))"
        } else if flags.contains(name) {
            flag = name == "label" ? "--label \(quoted)" : "--\(name) \(quoted)"
        } else {
            flag = text[end] == "=" && !name.isEmpty ? "--label \(Sanitised.word("\(name)=\(value)"))" : nil
        }
    }

    private static let fields = Set(ResultField.allCases.map(\.rawValue) + ["until"])
}
