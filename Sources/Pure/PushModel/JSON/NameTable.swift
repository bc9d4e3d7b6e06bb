/// Finds what a field's name stands for, by length and bytes, without hashing or making a string.
struct NameTable<Value: Sendable>: Sendable {
    private struct Entry {
        /// The first eight bytes as one number, which few names of a length share.
        let head: UInt64
        let name: [UInt8]
        let value: Value

        init(name: [UInt8], value: Value) {
            head = name.span.head
            self.name = name
            self.value = value
        }
    }

    /// Sorted by length.
    private let entries: [Entry]
    /// At `n` where the names of `n` bytes begin, at `n + 1` where they end.
    private let starts: [Int]
    /// All names, for messages.
    let list: String

    init(_ entries: [(String, Value)]) {
        list = entries.map(\.0).joined(separator: ", ")
        self.entries = entries.map { Entry(name: Array($0.0.utf8), value: $0.1) }.sorted { $0.name.count < $1.name.count }
        let lengths = self.entries.map(\.name.count)
        starts = (0...(lengths.last ?? 0) + 1).map { length in lengths.count { $0 < length } }
    }

    /// Every name, for suggestions.
    var names: [String] { entries.map { String(decoding: $0.name, as: UTF8.self) } }

    func value(of text: JSONDocument.Text, in document: borrowing JSONDocument) -> Value? {
        value(of: document.span(text))
    }

    func value(of name: Span<UInt8>) -> Value? {
        guard name.count < starts.count - 1 else { return nil }
        let head = name.head
        let entries = entries.span
        for index in starts[name.count]..<starts[name.count + 1] where entries[index].head == head {
            if name.count <= 8 || entries[index].name.span.equals(name) { return entries[index].value }
        }
        return nil
    }
}

extension NameTable where Value: CaseIterable {
    /// The cases of an enumeration under the names that they have in the code.
    init() { self.init(Value.allCases.map { (String(describing: $0), $0) }) }
}

extension NameTable where Value: CaseIterable & RawRepresentable<String> {
    /// The cases of an enumeration under their raw values.
    init() { self.init(Value.allCases.map { ($0.rawValue, $0) }) }
}
