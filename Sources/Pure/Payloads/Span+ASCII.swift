extension Span<UInt8> {
    /// True if the bytes begin with `prefix`, compared exactly.
    func starts(with prefix: StaticString) -> Bool {
        guard count >= prefix.utf8CodeUnitCount else { return false }
        return prefix.withUTF8Buffer { expected in
            for offset in 0..<expected.count where unsafe self[offset] != expected[offset] { return false }
            return true
        }
    }

    /// True if the bytes begin with `prefix`, which is in lower case, whatever the case of their ASCII letters.
    func startsIgnoringCase(with prefix: StaticString) -> Bool {
        guard count >= prefix.utf8CodeUnitCount else { return false }
        return prefix.withUTF8Buffer { expected in
            for offset in 0..<expected.count where unsafe lowercased(self[offset]) != expected[offset] { return false }
            return true
        }
    }

    /// True if the bytes are `literal`, which is in lower case, whatever the case of their ASCII letters.
    func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        count == literal.utf8CodeUnitCount && startsIgnoringCase(with: literal)
    }

    /// True if both have the same bytes, whatever the case of ASCII letters.
    func equalsIgnoringCase(_ other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count where lowercased(self[index]) != lowercased(other[index]) { return false }
        return true
    }
}

/// The small letter of an ASCII capital. Any other byte as it is.
private func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
