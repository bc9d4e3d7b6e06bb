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

    /// The value of the first field called `name`, in any case. For fields of a request see ``single(_:)`` and ``list(_:separator:)``.
    public subscript(_ name: String) -> String? {
        for field in all where field.name.equalsIgnoringCase(name) { return field.value }
        return nil
    }

    /// The number of fields called `name`, in any case.
    public func count(of name: String) -> Int { all.count { $0.name.equalsIgnoringCase(name) } }

    /// The value of the one field called `name`, in any case.
    ///
    /// - Returns: The value. Nil for none, and for several, of which none counts more than the others (RFC 9110, 5.3).
    public func single(_ name: String) -> String? { count(of: name) == 1 ? self[name] : nil }

    /// The values of all fields called `name` as the one list that they are (RFC 9110, 5.3).
    ///
    /// - Parameters:
    ///   - name: The name, in any case.
    ///   - separator: What comes between two of them. Cookies have a semicolon (RFC 9113, 8.2.3).
    /// - Returns: The list, or nil for no such field.
    public func list(_ name: String, separator: String = ", ") -> String? {
        let values = all.lazy.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: separator)
    }

    /// The members of that list, but for empty ones (RFC 9110, 5.6.1). A comma inside of double quotes separates none.
    public func members(_ name: String) -> [String] {
        (list(name) ?? "").unquotedParts(between: ",").filter { !$0.isEmpty }
    }

    /// The media type in small letters, without parameters; nil where there is none, or where there are several.
    public var mediaType: String? { single("Content-Type")?.mediaType }

    /// True if `If-None-Match` does not name what there is: by a list of tags, or as `*` for anything (RFC 9110, 13.1.2).
    ///
    /// - Parameter tag: The tag of what would be sent, compared weakly. Nil for something without a tag.
    /// - Returns: False where the answer is 304.
    public func wants(_ tag: String?) -> Bool {
        let named = (list("If-None-Match") ?? "").unquotedParts(between: ",", escapes: false)
        return named != ["*"] && !named.contains { $0.opaqueTag == tag?.opaqueTag }
    }

    /// True if `If-Match` names a tag, compared strongly: a weak one is none (RFC 9110, 13.1.1).
    public func requires(_ tag: String) -> Bool {
        (list("If-Match") ?? "").unquotedParts(between: ",", escapes: false).contains(tag)
    }

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
    /// The parts between separators that stand outside of double quotes, without the blanks around each.
    ///
    /// - Parameters:
    ///   - separator: The character between two parts.
    ///   - escapes: True if a backslash in quotes takes its meaning from what follows (RFC 9110, 5.6.4). In tags it does not (8.8.3).
    /// - Returns: At least one part.
    public func unquotedParts(between separator: Unicode.Scalar, escapes: Bool = true) -> [String] {
        var (parts, start, isQuoted, isEscaped) = ([String](), utf8.startIndex, false, false)
        for index in utf8.indices {
            let byte = utf8[index]
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                isEscaped = escapes && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: separator) {
                parts.append(self[start..<index].withoutBlanks)
                start = utf8.index(after: index)
            }
        }
        return parts + [self[start...].withoutBlanks]
    }

    /// The text that a quoted string stands for (RFC 9110, 5.6.4), or the text itself where it does not begin with a quote. Nil for quotes
    /// that do not end with the text.
    public var unquoted: String? {
        guard utf8.first == UInt8(ascii: "\"") else { return self }
        var (content, isEscaped) = ([UInt8](), false)
        for (index, byte) in utf8.enumerated().dropFirst() {
            if !isEscaped, byte == UInt8(ascii: "\"") {
                return index == utf8.count - 1 ? String(decoding: content, as: UTF8.self) : nil
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { content.append(byte) }
        }
        return nil
    }

    /// The media type that a value of `Content-Type` names, in small letters and without parameters.
    public var mediaType: String { self[..<(utf8.firstIndex(of: UInt8(ascii: ";")) ?? endIndex)].withoutBlanks.lowercased() }

    /// A tag without the mark of a weak one.
    fileprivate var opaqueTag: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }

    /// True if both are the same but for the case of ASCII letters.
    public func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.span.equalsIgnoringCase(other.utf8.span)
    }

    /// True if it begins with `prefix`, in any case of ASCII letters.
    public func startsIgnoringCase(with prefix: String) -> Bool {
        utf8.span.extracting(first: prefix.utf8.count).equalsIgnoringCase(prefix.utf8.span)
    }
}

extension StringProtocol {
    /// The parts between bytes of ASCII. Characters would not do: a separator and what stands beside it may be one, such as a mark before a
    /// comma.
    ///
    /// - Parameters:
    ///   - separator: The byte between two parts.
    ///   - maximum: The most separators that count.
    /// - Returns: At least one part. Parts may be empty.
    public func byteParts(between separator: Unicode.Scalar, atMost maximum: Int = .max) -> [Substring] {
        Substring(self).utf8.split(separator: UInt8(ascii: separator), maxSplits: maximum, omittingEmptySubsequences: false)
            .map { Substring($0) }
    }
}

extension Substring {
    /// The text without the blanks and tabs before and behind it.
    public var withoutBlanks: String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return String(self[first..<utf8.index(after: last)])
    }
}
