import Basics
import PushModel

/// A condition on requests, made ready to be asked of many.
struct SoughtValues {
    /// More exact forms than this are looked up by hash instead of one after another.
    private static let listLimit = 16

    /// One of the values.
    struct Value {
        /// The folded text, and of what may be a handle its other forms. A pattern has one.
        let forms: [[UInt8]]
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
    private let exact: Set<[UInt8]>

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
        isPerson = !kinds.isDisjoint(with: .persons)
        let hasHandles = kinds.contains(.handle)
        let hasWords = readsTitles && sought.looksAtTitles && (sought.subject == .title || sought.subject == .anything)
        values = sought.values.map { value in
            let forms = hasHandles && !value.hasPattern ? Self.handleForms(of: value.text) : [FoldedText.bytes(value.text)]
            let words = hasWords ? TextWords.words(of: value.text, keepingStars: value.hasPattern) : []
            return Value(forms: forms, isPattern: value.hasPattern, words: words)
        }
        let forms = values.filter { !$0.isPattern }.flatMap(\.forms)
        exact = forms.count > Self.listLimit ? Set(forms) : []
    }

    /// The folded text, and the forms in which requests have it if it is a handle.
    private static func handleForms(of text: String) -> [[UInt8]] {
        var forms = [FoldedText.bytes(text)]
        for platform in [Platform.apple, .browser] {
            let form = FoldedText.bytes(DeviceToken.identity(of: text, on: platform))
            if !forms.contains(form) { forms.append(form) }
        }
        return forms
    }

    /// True if titles are compared with any of the values.
    var hasWords: Bool { values.contains { !$0.words.isEmpty } }

    /// True if any value has `*`.
    var hasPattern: Bool { values.contains(where: \.isPattern) }

    /// True if a text of one of the `kinds` is one of the values.
    func accepts(_ text: Span<UInt8>) -> Bool {
        if !exact.isEmpty, exact.contains(FoldedText.bytes(text)) { return true }
        for value in values {
            if value.isPattern {
                let (folded, pattern) = (FoldedText.bytes(text), value.forms[0])
                if folded.span.matches(pattern.span) { return true }
            } else if exact.isEmpty {
                for form in value.forms where FoldedText.isForm(form, of: text) { return true }
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
