import PushModel

/// A condition on requests, made ready to be asked of many.
struct SoughtValues {
    /// More exact forms than this are looked up by hash instead of one after another.
    private static let listLimit = 16

    /// One of the values.
    struct Value {
        /// The folded text.
        let text: [UInt8]
        /// The forms in which requests have it if it is a handle.
        let handles: [[UInt8]]
        let isPattern: Bool
        /// The words that the title must have, all of them. None where it is no matter of titles.
        let words: [[UInt8]]
    }

    /// The kinds of texts that are compared as a whole.
    let kinds: RequestTokens.Kinds
    let isNegated: Bool
    /// True if a person or a device may be meant, of whom a broad request says nothing.
    let isPerson: Bool
    let values: [Value]
    /// The texts and the handles of many values.
    private let texts, handles: Set<[UInt8]>

    /// A condition.
    ///
    /// - Parameters:
    ///   - sought: The condition as it was written.
    ///   - readsTitles: False for an asker who may not see titles: no word is one of a title.
    init(_ sought: Sought, readingTitles readsTitles: Bool) {
        kinds =
            switch sought.subject {
            case .anything: .anything
            case .user: .user
            case .device: [.installation, .handle]
            case .title: []
            case .audience: .audience
            }
        isNegated = sought.isNegated
        isPerson = sought.mayBePerson
        let hasHandles = kinds.contains(.handle)
        let hasWords = readsTitles && sought.matchesTitles && (sought.subject == .title || sought.subject == .anything)
        values = sought.values.map { value in
            let handles = hasHandles && !value.hasPattern ? Self.handles(of: value.text) : []
            let words = hasWords ? TextWords.words(of: value.text, keepingStars: value.hasPattern) : []
            return Value(text: FoldedText.bytes(value.text), handles: handles, isPattern: value.hasPattern, words: words)
        }
        let plain = values.filter { !$0.isPattern }
        texts = plain.count > Self.listLimit ? Set(plain.map(\.text)) : []
        handles = plain.count > Self.listLimit ? Set(plain.flatMap(\.handles)) : []
    }

    private static func handles(of text: String) -> [[UInt8]] {
        Set([Platform.apple, .browser, .fcmv1].map { FoldedText.bytes(DeviceToken.identity(of: text, on: $0)) }).sorted {
            $0.lexicographicallyPrecedes($1)
        }
    }

    /// True if titles are compared with any of the values.
    var hasWords: Bool { values.contains { !$0.words.isEmpty } }

    /// True if any value has `*`.
    var hasPattern: Bool { values.contains(where: \.isPattern) }

    /// True if a text of a kind is one of the values.
    func accepts(_ text: Span<UInt8>, of kind: RequestTokens.Kind) -> Bool {
        guard kinds.contains(RequestTokens.Kinds(kind)) else { return false }
        if !texts.isEmpty, (kind == .handle ? handles : texts).contains(FoldedText.bytes(text)) { return true }
        for value in values {
            if value.isPattern {
                let (folded, pattern) = (FoldedText.bytes(text), value.text)
                if folded.span.matches(pattern.span) { return true }
            } else if texts.isEmpty {
                for form in kind == .handle ? value.handles : [value.text] where FoldedText.isForm(form, of: text) { return true }
            }
        }
        return false
    }

    /// True if a title of these words has all words of one of the values.
    func accepts(words: Set<[UInt8]>) -> Bool {
        values.contains { value in
            !value.words.isEmpty
                && value.words.allSatisfy { wanted in
                    guard value.isPattern, wanted.contains(UInt8(ascii: "*")) else { return words.contains(wanted) }
                    return words.contains { $0.span.matches(wanted.span) }
                }
        }
    }
}
