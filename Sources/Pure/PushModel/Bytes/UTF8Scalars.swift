/// Steps through UTF-8 one scalar at a time, as RFC 3629 allows it: no overlong form, no surrogate, nothing above U+10FFFF.
public enum UTF8Scalars {
    /// The byte count (1–4) of the well-formed scalar that starts at `index`, or 0 when it is not well formed.
    public static func length(at index: Int, in bytes: Span<UInt8>) -> Int {
        let first = bytes[index]
        if first < 0x80 { return 1 }
        let left = bytes.count - index
        switch first {
        case 0xC2...0xDF:
            return left >= 2 && isContinuation(bytes[index + 1]) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isContinuation(bytes[index + 1]), isContinuation(bytes[index + 2]) else { return 0 }
            if first == 0xE0 && bytes[index + 1] < 0xA0 { return 0 }
            if first == 0xED && bytes[index + 1] > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            guard left >= 4, isContinuation(bytes[index + 1]), isContinuation(bytes[index + 2]),
                isContinuation(bytes[index + 3])
            else { return 0 }
            if first == 0xF0 && bytes[index + 1] < 0x90 { return 0 }
            if first == 0xF4 && bytes[index + 1] > 0x8F { return 0 }
            return 4
        default:
            return 0
        }
    }

    /// True if all of `bytes` is well-formed UTF-8.
    public static func isWellFormed(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let step = length(at: index, in: bytes)
            if step == 0 { return false }
            index += step
        }
        return true
    }

    @inline(__always) private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
