import HubServer

/// Writes numbers and texts one behind the other, each with its length.
struct PackedWriter {
    /// Everything that was written.
    private(set) var bytes: [UInt8] = []

    /// Adds a number of at least 0: seven bits a byte, the lowest first.
    mutating func append(_ number: Int) {
        var rest = UInt64(max(number, 0))
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Adds a text, or that there is none.
    mutating func append(_ text: String?) {
        guard let text else { return append(0) }
        append(text.utf8.count + 1)
        bytes.append(contentsOf: text.utf8)
    }

    /// Adds a list, each element as `body` writes it.
    mutating func append<Element>(_ list: [Element], each body: (inout PackedWriter, Element) -> Void) {
        append(list.count)
        for element in list { body(&self, element) }
    }
}

/// Reads what ``PackedWriter`` wrote. Anything else is refused with 503.
struct PackedReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next number.
    mutating func number() throws(RefusedCall) -> Int {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while let byte = rest.popFirst(), shift < 63 {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int(number) }
            shift += 7
        }
        throw .unreadable
    }

    /// The next text, or nil where there is none.
    mutating func optionalText() throws(RefusedCall) -> String? {
        let length = try number() - 1
        guard length >= 0 else { return nil }
        guard length <= rest.count else { throw .unreadable }
        defer { rest = rest.dropFirst(length) }
        return String(decoding: rest.prefix(length), as: UTF8.self)
    }

    /// The next text.
    mutating func text() throws(RefusedCall) -> String {
        guard let text = try optionalText() else { throw .unreadable }
        return text
    }

    /// The next list, each element as `body` reads it.
    mutating func list<Element>(
        of body: (inout PackedReader) throws(RefusedCall) -> Element
    ) throws(RefusedCall) -> [Element] {
        var list: [Element] = []
        for _ in 0..<(try number()) { list.append(try body(&self)) }
        return list
    }
}

extension RefusedCall {
    /// The refusal of a call that needs a value which is in the file and cannot be read.
    static let unreadable = RefusedCall.unavailable("A value in the hub's file cannot be read")
}
