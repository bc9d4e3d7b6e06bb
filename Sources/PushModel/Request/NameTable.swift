/// Finds what a field's name stands for, by length and bytes, without hashing or making a string.
struct NameTable<Value: Sendable>: Sendable {
    private let entries: [(name: [UInt8], value: Value)]
    /// All names, for messages.
    let list: String

    init(_ entries: [(String, Value)]) {
        self.entries = entries.map { (Array($0.0.utf8), $0.1) }
        list = entries.map(\.0).joined(separator: ", ")
    }

    func value(of text: JSONDocument.Text, in document: borrowing JSONDocument) -> Value? {
        let candidate = document.span(text)
        for entry in entries where entry.name.count == candidate.count {
            var index = 0
            while index < candidate.count && candidate[index] == entry.name[index] { index += 1 }
            if index == candidate.count { return entry.value }
        }
        return nil
    }
}

extension NameTable where Value: CaseIterable {
    /// The cases of an enumeration under the names that they have in the code.
    init() {
        self.init(Value.allCases.map { (String(describing: $0), $0) })
    }
}

extension NameTable where Value: CaseIterable & RawRepresentable<String> {
    /// The cases of an enumeration under their raw values.
    init() {
        self.init(Value.allCases.map { ($0.rawValue, $0) })
    }
}
