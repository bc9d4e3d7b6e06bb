import Basics

/// W3C Trace Context: `<version>-<32 hex>-<16 hex>-<2 hex>`, small letters, neither id all zeros, any version but `ff`.
enum TraceParent {
    static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count == 55 else { return false }
        for index in text.indices {
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

    private static func isAll(_ digit: Unicode.Scalar, in text: Span<UInt8>, range: Range<Int>) -> Bool {
        for index in range where text[index] != UInt8(ascii: digit) { return false }
        return true
    }
}
