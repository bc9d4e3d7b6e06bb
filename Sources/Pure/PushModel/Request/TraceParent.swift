import Basics

/// W3C Trace Context: `<version>-<32 hex>-<16 hex>-<2 hex>`, small letters, neither id all zeros, any version but `ff`. What a later version
/// has behind that begins with `-` (section 3.2.4).
enum TraceParent {
    /// Bytes of version 00.
    static let byteCount = 55

    static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count >= byteCount else { return false }
        guard text.count == byteCount || !isOfVersion00(text) && text[byteCount] == UInt8(ascii: "-") else { return false }
        for index in 0..<byteCount {
            let byte = text[index]
            if index == 2 || index == 35 || index == 52 {
                if byte != UInt8(ascii: "-") { return false }
                continue
            }
            guard byte.isDigit || byte &- UInt8(ascii: "a") < 6 else { return false }
        }
        return !isAll("0", in: text, range: 3..<35) && !isAll("0", in: text, range: 36..<52)
            && !isAll("f", in: text, range: 0..<2)
    }

    static func isOfVersion00(_ text: Span<UInt8>) -> Bool { isAll("0", in: text, range: 0..<2) }

    /// The context of a later version as version 00 says it, which alone is known here: with the two flags that have a meaning.
    static func lowered(_ text: Span<UInt8>) -> [UInt8] {
        var parent = ByteWriter(capacity: byteCount)
        parent.append("00")
        parent.append(text.extracting(2..<53))
        parent.append("0")
        parent.append(Hexadecimal.digit((text[54].hexadecimalValue ?? 0) & 3))
        return parent.bytes
    }

    private static func isAll(_ digit: Unicode.Scalar, in text: Span<UInt8>, range: Range<Int>) -> Bool {
        for index in range where text[index] != UInt8(ascii: digit) { return false }
        return true
    }
}
