import Basics

/// One answer to a request: status, fields and body, all kept in one run of bytes.
///
/// An empty one only lends its memory to the next answer.
public struct Answer: Sendable {
    /// One field of the head, as places in `Answer.bytes`.
    public struct Field: Hashable, Sendable {
        /// The place of the name, never empty, its letters as the peer wrote them.
        public let name: Range<Int>
        /// The place of the value, without the whitespace around it. May be empty.
        public let value: Range<Int>
    }

    /// Memory of the answer. Only what `Field` and `bodyRange` name has a meaning.
    public internal(set) var bytes: [UInt8] = []
    /// Fields of the final answer in the peer's order. Trailer fields are not kept.
    public internal(set) var fields: [Field] = []
    /// Status code, 200...599. 0 when there is no answer yet.
    public internal(set) var status = 0
    /// The place of the decoded body in `bytes`.
    public internal(set) var bodyRange = 0..<0
    /// True if the peer lets the connection carry another request (RFC 9112, section 9.3). After a 421 it must be another one (RFC 9110,
    /// section 15.5.20).
    public internal(set) var keepsAlive = false

    /// An answer without content.
    public init() {}

    /// The decoded body.
    public var body: Span<UInt8> {
        @_lifetime(borrow self)
        get { text(bodyRange) }
    }

    /// The bytes at `range`, without copying them.
    ///
    /// - Parameter range: A field's name or value, or the body.
    /// - Returns: A view that is valid as long as this answer is.
    @_lifetime(borrow self)
    public borrowing func text(_ range: Range<Int>) -> Span<UInt8> { bytes.span.extracting(range) }

    /// The bytes at `range` as a string. What is not UTF-8 becomes U+FFFD.
    ///
    /// - Parameter range: A field's name or value, or the body.
    /// - Returns: A copy.
    public func string(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Finds the first `byte` in `range`.
    public func firstPlace(of byte: UInt8, in range: Range<Int>) -> Int? {
        let place = bytes.span.extracting(first: range.upperBound).firstPlace(of: byte, from: range.lowerBound)
        return place < range.upperBound ? place : nil
    }

    /// Finds the first field of a name.
    ///
    /// - Parameter name: The field's name; ASCII letters match in either case (RFC 9110, section 5.1).
    /// - Returns: Where its value is; nil when there is no such field.
    public func value(of name: StaticString) -> Range<Int>? {
        for field in fields where field.name.count == name.utf8CodeUnitCount && holds(name, at: field.name) {
            return field.value
        }
        return nil
    }

    /// The first value of a field as a string.
    ///
    /// - Parameter name: The field's name, in either case.
    /// - Returns: A copy; nil when there is no such field.
    public func string(of name: StaticString) -> String? { value(of: name).map { string($0) } }

    func holds(_ word: StaticString, at range: Range<Int>) -> Bool {
        bytes.span.extracting(range).equalsIgnoringCase(word)
    }
}
