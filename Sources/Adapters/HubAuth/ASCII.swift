import Basics

extension UInt8 {
    /// Space, tab, carriage return or line feed.
    var isWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

    /// Below 0x20, or DEL.
    var isControl: Bool { self < 0x20 || self == 0x7F }
}

extension Collection<UInt8> {
    /// The same bytes with A–Z as a–z.
    var lowercased: [UInt8] { map(\.lowercased) }

    /// The bytes as text. Malformed UTF-8 is repaired.
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension ArraySlice<UInt8> {
    /// Without white space at either end.
    var trimmed: ArraySlice<UInt8> {
        var rest = drop { $0.isWhiteSpace }
        while let last = rest.last, last.isWhiteSpace { rest.removeLast() }
        return rest
    }

    /// The parts before and after the first `separator`, or nil when there is none.
    func split(atFirst separator: UInt8) -> (head: ArraySlice<UInt8>, tail: ArraySlice<UInt8>)? {
        guard let index = firstIndex(of: separator) else { return nil }
        return (self[..<index], self[(index + 1)...])
    }
}
