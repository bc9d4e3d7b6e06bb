import Basics

/// One JSON text (RFC 8259), read once into a flat list of values that point into its bytes.
///
/// A document is meant to be reused: reading the next text keeps the room of the one before, so that nothing is allocated once
/// it has grown to the usual size. Strings with escapes are decoded behind the text itself, so every string is a range of
/// plain UTF-8 in `bytes`. The raw text of every object and array stays as it was received.
public struct JSONDocument: Sendable {
    /// A value's place in the document. Valid until the next `read`.
    public struct Node: Sendable, Hashable {
        let index: Int32
    }

    /// A piece of UTF-8 text inside the document's bytes. Valid until the next `read`.
    public struct Text: Sendable, Hashable {
        let start: Int32
        let length: Int32
        /// The number of UTF-8 bytes.
        public var count: Int { Int(length) }
        /// True if there is no text at all.
        public var isEmpty: Bool { length == 0 }
    }

    /// The kinds of a value.
    public enum Kind: UInt8, Sendable {
        case object, array, string, number, `true`, `false`, null
    }

    struct Token: Sendable {
        var kind: Kind
        /// True for a string in which U+FFFD stands for half a surrogate pair.
        var isIllFormed = false
        /// The value's range in `bytes`: raw text, or the decoded content of a string.
        var start: Int32
        var length: Int32
        /// The index of the first token after this value and all that is in it. While it is being read, the token of the
        /// container around it, or -1.
        var next: Int32
        /// The number of members or elements.
        var childCount: Int32 = 0
    }

    /// The text as received, followed by the decoded content of strings that had escapes and by texts added later.
    var content = ByteWriter()
    /// Room for tokens. Those of the text stand at its front, the root's first.
    var tokens: [Token] = []
    /// The keys that stand in their object before, in the order in which the objects end. They are at most 16.
    public internal(set) var duplicateKeys: [Node] = []
    /// True if U+FFFD stands for half a surrogate pair in any string.
    var hasIllFormedText = false
    /// True if null stands anywhere in the text.
    public internal(set) var hasNull = false

    /// An empty document without a `root`. `read` fills it.
    public init() {}

    /// Forgets the text and keeps the room, unless a rare giant made it large.
    public mutating func removeAll() {
        if content.room.count > 1 << 16 { content = ByteWriter() } else { content.removeAll() }
        if tokens.count > 1 << 14 { tokens = [] }
        if !duplicateKeys.isEmpty { duplicateKeys.removeAll() }
        hasIllFormedText = false
        hasNull = false
    }

    /// The bytes that the list of values takes in memory, with the room that it keeps: 20 for each value. A text of many small values has
    /// ten bytes in it for each of its own.
    public var valuesByteCount: Int { tokens.capacity * MemoryLayout<Token>.stride }

    /// The bytes that its texts take in memory, with the room that it keeps.
    public var textByteCount: Int { content.room.count }

    /// A copy of the text as received, followed by the decoded content of strings that had escapes and by texts added later.
    public var bytes: [UInt8] { content.bytes }

    /// The outermost value of a text that was read without an error.
    public var root: Node { Node(index: 0) }

    /// The kind of the value at `node`.
    public func kind(of node: Node) -> Kind { tokens[Int(node.index)].kind }

    /// True for a string in which U+FFFD stands for half a surrogate pair.
    public func isIllFormed(_ node: Node) -> Bool { tokens[Int(node.index)].isIllFormed }

    /// The strings, keys among them, in which U+FFFD stands for half a surrogate pair, in their order. They are at most 16.
    public var illFormedTexts: [Node] {
        guard hasIllFormedText else { return [] }
        return Array(tokens[..<Int(tokens[0].next)].indices.lazy.filter { tokens[$0].isIllFormed }.prefix(16))
            .map { Node(index: Int32($0)) }
    }

    /// The number of members of an object or elements of an array, or 0 for other values.
    public func childCount(of node: Node) -> Int { Int(tokens[Int(node.index)].childCount) }

    /// The content of a string, or the raw text of any other value.
    public func text(of node: Node) -> Text {
        let token = tokens[Int(node.index)]
        return Text(start: token.start, length: token.length)
    }

    /// The bytes of `text`.
    @_lifetime(borrow self)
    public borrowing func span(_ text: Text) -> Span<UInt8> {
        content.span.extracting(Int(text.start)..<Int(text.start) + Int(text.length))
    }

    /// The text as it was received, whose length the reader of it knows.
    @_lifetime(borrow self)
    public borrowing func source(byteCount: Int) -> Span<UInt8> { content.span.extracting(0..<byteCount) }

    /// `text` as a `String`, for messages and tests, not for the path of every request.
    public func string(_ text: Text) -> String {
        String(decoding: content.room[Int(text.start)..<Int(text.start) + Int(text.length)], as: UTF8.self)
    }

    /// Adds text that did not stand in the record, so that it can be handled like the rest.
    public mutating func add(_ span: Span<UInt8>) -> Text {
        let text = Text(start: Int32(content.count), length: Int32(span.count))
        content.append(span)
        return text
    }

    /// Gives a string another content: a form of it that all who read it get. The raw text of what is around it stays.
    mutating func setText(of node: Node, to form: Span<UInt8>) {
        let text = add(form)
        tokens[Int(node.index)].start = text.start
        tokens[Int(node.index)].length = text.length
    }

    /// The first member's key or first element of a container, or nil when it is empty or no container.
    public func firstChild(of node: Node) -> Node? {
        tokens[Int(node.index)].childCount > 0 ? Node(index: node.index + 1) : nil
    }

    /// The value that follows `node` on the same level. Of a key, its member's value.
    public func next(after node: Node) -> Node { Node(index: tokens[Int(node.index)].next) }

    /// Calls `body` with every member of the object at `node`, in order. For other values, never.
    @inlinable public func forEachMember<E: Error>(of node: Node, perform body: (Text, Node) throws(E) -> Void) throws(E) {
        guard kind(of: node) == .object, var key = firstChild(of: node) else { return }
        for remaining in stride(from: childCount(of: node), to: 0, by: -1) {
            let value = next(after: key)
            try body(text(of: key), value)
            if remaining > 1 { key = next(after: value) }
        }
    }

    /// Calls `body` with every element of the array at `node`, in order. For other values, never.
    @inlinable public func forEachElement<E: Error>(of node: Node, perform body: (Node) throws(E) -> Void) throws(E) {
        guard kind(of: node) == .array, var element = firstChild(of: node) else { return }
        for remaining in stride(from: childCount(of: node), to: 0, by: -1) {
            try body(element)
            if remaining > 1 { element = next(after: element) }
        }
    }

    /// A place among the children of a container, for walks that change what surrounds the document.
    public struct Cursor: Sendable {
        var node: Node?
        var remaining: Int
        let isObject: Bool

        /// The next member's key and value, or the next element twice, or nil when there is no more.
        public mutating func next(in document: borrowing JSONDocument) -> (key: Node, value: Node)? {
            guard remaining > 0, let current = node else { return nil }
            remaining -= 1
            let value = isObject ? document.next(after: current) : current
            node = remaining > 0 ? document.next(after: value) : nil
            return (current, value)
        }
    }

    /// A cursor before the first child of `node`. Of a scalar, one that is at its end.
    public func children(of node: Node) -> Cursor {
        Cursor(node: firstChild(of: node), remaining: childCount(of: node), isObject: kind(of: node) == .object)
    }

    /// The value of the object's member `name`, or nil when there is none or `node` is no object.
    public func member(_ name: StaticString, of node: Node) -> Node? {
        guard kind(of: node) == .object, var key = firstChild(of: node) else { return nil }
        for remaining in stride(from: childCount(of: node), to: 0, by: -1) {
            let value = next(after: key)
            if isEqual(text(of: key), to: name) { return value }
            if remaining > 1 { key = next(after: value) }
        }
        return nil
    }

    /// The value of the object's member `name`, or nil when there is none, or null in its place.
    public func value(_ name: StaticString, of node: Node) -> Node? {
        member(name, of: node).flatMap { kind(of: $0) == .null ? nil : $0 }
    }

    /// True if `text` is exactly `literal`.
    public func isEqual(_ text: Text, to literal: StaticString) -> Bool {
        literal.utf8CodeUnitCount == text.count && span(text).holds(literal)
    }

    /// True if `text` is exactly `string`.
    public func isEqual(_ text: Text, to string: String) -> Bool { span(text).equals(string) }

    /// True if two texts have the same bytes.
    public func isEqual(_ left: Text, to right: Text) -> Bool {
        left.length == right.length && span(left).equals(span(right))
    }

    /// The integer at `node`, or nil when it is no number, has a fraction or exponent, or does not fit 64 bits.
    public func integer(at node: Node) -> Int64? {
        guard kind(of: node) == .number else { return nil }
        let digits = span(text(of: node))
        let isNegative = digits[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for index in (isNegative ? 1 : 0)..<digits.count {
            let digit = digits[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.subtractingReportingOverflow(Int64(digit))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        // Counted downwards, because the least 64-bit number has no positive counterpart.
        if isNegative { return value }
        return value == .min ? nil : -value
    }
}
