/// The input that a source gives for a key, before it is interpreted.
enum SettingInput: Sendable, Equatable {
    /// A flag, a variable, a file's scalar, or a default.
    case text(String)
    /// A file's sequence.
    case list([String])
    /// A file's mapping, in its order.
    case map([SettingPair])

    /// The input as it was given, for a message.
    var shown: String {
        switch self {
        case .text(let text): SettingText.shown(text)
        case .list: "a list"
        case .map: "a mapping"
        }
    }
}

/// A name and its value.
struct SettingPair: Sendable, Equatable {
    let name: String
    let value: String
}

/// The fault of a value, written after the value, as in `"x" is not a whole number`.
struct SettingFault: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}

/// The reading of a value and its allowed range.
struct SettingType<Value: Sendable>: Sendable {
    /// The shapes that a file may use besides text.
    enum Shape: Sendable {
        case text, list, map
    }

    /// The allowed values, as the end of the sentence "expected …".
    let allowed: String
    var shape = Shape.text
    var isSecret = false
    /// The only legal values, empty where there are others.
    var choices: [String] = []
    /// True for the path of a file that must be there.
    var namesFile = false
    let read: @Sendable (SettingInput) throws(SettingFault) -> Value

    /// A type whose values are written as one piece of text.
    static func text(
        _ allowed: String, isSecret: Bool = false, read: @escaping @Sendable (String) throws(SettingFault) -> Value
    ) -> SettingType {
        SettingType(allowed: allowed, isSecret: isSecret) { (input) throws(SettingFault) -> Value in
            guard case .text(let text) = input else { throw SettingFault("is not a single value") }
            guard !text.isEmpty else { throw SettingFault("is empty") }
            guard !text.unicodeScalars.contains(where: SettingText.isControl) else {
                throw SettingFault("contains a line break or another control character")
            }
            return try read(text)
        }
    }

    static func word(_ words: [(word: String, value: Value)]) -> SettingType {
        var type = text(SettingText.choice(words.map(\.word))) { (text) throws(SettingFault) -> Value in
            guard let match = words.first(where: { $0.word == text }) else { throw SettingFault("is none of the words") }
            return match.value
        }
        type.choices = words.map(\.word)
        return type
    }
}

extension SettingType where Value: CaseIterable & RawRepresentable<String> {
    static var choice: SettingType { word(Value.allCases.map { ($0.rawValue, $0) }) }
}

extension SettingType {
    /// Items in a file's sequence or as text with commas, each once, and at least one.
    static func list<Item: Hashable>(of item: SettingType<Item>) -> SettingType where Value == [Item] {
        SettingType(allowed: "one or more, separated by commas, of: \(item.allowed)", shape: .list) {
            (input) throws(SettingFault) -> [Item] in
            var items: [Item] = []
            let texts = try pieces(of: input)
            for text in texts {
                let value: Item
                do throws(SettingFault) {
                    value = try item.read(.text(text))
                } catch {
                    let isOnlyOne = texts.count == 1 || text.isEmpty
                    throw isOnlyOne ? error : SettingFault("has \(SettingText.shown(text)), which \(error.message)")
                }
                guard !items.contains(value) else { throw SettingFault("names \(SettingText.shown(text)) twice") }
                items.append(value)
            }
            guard !items.isEmpty else { throw SettingFault("is empty") }
            return items
        }
    }

    private static func pieces(of input: SettingInput) throws(SettingFault) -> [String] {
        switch input {
        case .list(let items): return items
        case .text(let text): return text.split(separator: ",", omittingEmptySubsequences: false).map { trimmed($0) }
        case .map: throw SettingFault("is not a list")
        }
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        var scalars = Substring(text).unicodeScalars
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        return String(scalars)
    }
}
