internal import Basics
internal import PushModel

/// Looks at one place of a text. The scanner itself is too large to be handed on for that.
extension Span<UInt8> {
    /// True if the name that begins at `place` is the one at `range`.
    func isName(_ range: Range<Int>, alsoAt place: Int) -> Bool {
        for offset in 0..<range.count where self[place + offset] != self[range.lowerBound + offset] { return false }
        switch self[place + range.count] {
        case UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: "="): return true
        case let byte: return XMLScanner.isBlank(byte)
        }
    }

    /// The character for which the reference at `start` stands and the place behind it, or nil when it is none.
    func reference(at start: Int, isAnyAllowed: Bool) -> (scalar: Unicode.Scalar, end: Int)? {
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
        while end < count, let digit = self[end].hexadecimalValue, isHexadecimal || digit < 10 {
            value = min(value * (isHexadecimal ? 16 : 10) + UInt32(digit), 0x11_0000)
            end += 1
        }
        guard end > begin, end < count, self[end] == UInt8(ascii: ";"), let scalar = Unicode.Scalar(value),
            isAnyAllowed || XMLName.isCharacter(value)
        else { return nil }
        return (scalar, end + 1)
    }

    /// True if `&` and `;` at `start` enclose a number or a name, or what looks like one.
    func isNamedReference(at start: Int) -> Bool {
        var end = start + 1
        while end < count, self[end].isLetterOrDigit || self[end] == UInt8(ascii: "#") { end += 1 }
        return end > start + 1 && end < count && self[end] == UInt8(ascii: ";")
    }

    /// The value and the length of the scalar at `place`, or nil where there is no UTF-8.
    func scalar(at place: Int) -> (value: UInt32, byteCount: Int)? {
        let byteCount = UTF8Scalars.length(at: place, in: self)
        guard byteCount > 0 else { return nil }
        var value = byteCount == 1 ? UInt32(self[place]) : UInt32(self[place]) & (0x7F >> UInt32(byteCount))
        for offset in 1..<max(byteCount, 1) { value = value << 6 | UInt32(self[place + offset] & 0x3F) }
        return (value, byteCount)
    }
}
