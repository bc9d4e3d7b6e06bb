import Basics

/// The header fields of a request or an answer, in order, with names compared without regard to case (RFC 9110, 5.1).
public struct HTTPFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One header field.
    public struct Field: Sendable, Equatable {
        /// The name as it was written.
        public let name: String
        /// The value without surrounding blanks.
        public let value: String

        /// Makes a field of `name` and `value`, as they stand.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Every field, in the order of the message.
    public private(set) var all: [Field]

    /// Fields in the order of the literal. A repeated name stays repeated.
    public init(dictionaryLiteral elements: (String, String)...) {
        all = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// No fields, with room for `capacity`.
    public init(capacity: Int = 0) {
        all = []
        all.reserveCapacity(capacity)
    }

    /// The value of the first field called `name`, in any case.
    public subscript(_ name: String) -> String? {
        for field in all where field.name.equalsIgnoringCase(name) { return field.value }
        return nil
    }

    /// The number of fields called `name`, in any case.
    public func count(of name: String) -> Int { all.count { $0.name.equalsIgnoringCase(name) } }

    /// Removes every field called `name`, in any case.
    public mutating func remove(_ name: String) {
        all.removeAll { $0.name.equalsIgnoringCase(name) }
    }

    /// Adds a field behind the others, even when the name is there already.
    public mutating func append(_ name: String, value: String) {
        all.append(Field(name: name, value: value))
    }
}

extension String {
    /// True if both are the same but for the case of ASCII letters.
    public func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && startsIgnoringCase(with: other)
    }

    /// True if it begins with `prefix`, in any case of ASCII letters.
    public func startsIgnoringCase(with prefix: String) -> Bool {
        let mine = utf8.span
        let wanted = prefix.utf8.span
        guard mine.count >= wanted.count else { return false }
        for index in 0..<wanted.count where mine[index] != wanted[index] {
            if mine[index].lowercased != wanted[index].lowercased { return false }
        }
        return true
    }
}
