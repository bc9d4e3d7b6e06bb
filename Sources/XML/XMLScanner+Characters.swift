internal import Basics
internal import PushModel

extension XMLScanner {
    /// Appends the characters at `range`, a place that an event or an attribute gave. References are resolved unless it `isLiteral`,
    /// and line ends are line feeds (XML 1.0, 2.11). Throws only for a reference that ``Leniency/anyCharacter`` let pass.
    package func append(_ range: Range<Int>, isLiteral: Bool = false, to bytes: inout [UInt8]) throws(XMLFault) {
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = text[place]
            if byte == UInt8(ascii: "&"), !isLiteral {
                guard let reference = reference(at: place), reference.end <= range.upperBound else {
                    throw XMLFault(.reference, at: place)
                }
                bytes.append(contentsOf: UTF8.encode(reference.scalar) ?? UTF8.encodedReplacementCharacter)
                place = reference.end
            } else if byte == 0x0D {
                if place + 1 == range.upperBound || text[place + 1] != 0x0A { bytes.append(0x0A) }
                place += 1
            } else {
                bytes.append(byte)
                place += 1
            }
        }
    }

    /// Passes over one character of XML, whichever it is.
    mutating func skipCharacter() throws(XMLFault) {
        let byte = text[index]
        if leniency.contains(.anyCharacter) || byte >= 0x20 && byte < 0x80 || Self.isBlank(byte) {
            index += 1
            return
        }
        guard let scalar = scalar(at: index) else { throw XMLFault(.utf8, at: index) }
        guard XMLName.isCharacter(scalar.value) else { throw XMLFault(.character, at: index) }
        index += scalar.byteCount
    }

    /// Passes over the reference that an `&` begins.
    mutating func skipReference() throws(XMLFault) {
        if leniency.contains(.anyCharacter) {
            index += 1
        } else if let reference = reference(at: index) {
            index = reference.end
        } else {
            throw XMLFault(isNamedReference(at: index) ? .reference : .ampersand, at: index)
        }
    }

    /// The character for which the reference at `start` stands and the place behind it, or nil when it is none.
    private func reference(at start: Int) -> (scalar: Unicode.Scalar, end: Int)? {
        if holds("&amp;", at: start) { return ("&", start + 5) }
        if holds("&lt;", at: start) { return ("<", start + 4) }
        if holds("&gt;", at: start) { return (">", start + 4) }
        if holds("&quot;", at: start) { return ("\"", start + 6) }
        if holds("&apos;", at: start) { return ("'", start + 6) }
        guard holds("&#", at: start) else { return nil }
        let isHexadecimal = holds("&#x", at: start)
        let begin = start + (isHexadecimal ? 3 : 2)
        var end = begin
        var value: UInt32 = 0
        while end < text.count, let digit = text[end].hexadecimalValue, isHexadecimal || digit < 10 {
            value = min(value * (isHexadecimal ? 16 : 10) + UInt32(digit), 0x11_0000)
            end += 1
        }
        guard end > begin, end < text.count, text[end] == UInt8(ascii: ";"), let scalar = Unicode.Scalar(value),
            leniency.contains(.anyCharacter) || XMLName.isCharacter(value)
        else { return nil }
        return (scalar, end + 1)
    }

    /// True if `&` and `;` at `start` enclose a number or a name, or what looks like one.
    private func isNamedReference(at start: Int) -> Bool {
        var end = start + 1
        while end < text.count, text[end].isLetterOrDigit || text[end] == UInt8(ascii: "#") { end += 1 }
        return end > start + 1 && end < text.count && text[end] == UInt8(ascii: ";")
    }

    /// The value and the length of the scalar at `place`, or nil where there is no UTF-8.
    func scalar(at place: Int) -> (value: UInt32, byteCount: Int)? {
        let byteCount = UTF8Scalars.length(at: place, in: text)
        guard byteCount > 0 else { return nil }
        var value = byteCount == 1 ? UInt32(text[place]) : UInt32(text[place]) & (0x7F >> UInt32(byteCount))
        for offset in 1..<max(byteCount, 1) { value = value << 6 | UInt32(text[place + offset] & 0x3F) }
        return (value, byteCount)
    }
}
