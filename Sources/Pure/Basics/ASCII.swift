/// Classes of ASCII characters as tests of a byte.
extension UInt8 {
    /// True for 0–9.
    @inlinable public var isDigit: Bool { self &- 0x30 < 10 }

    /// True for a–z.
    @inlinable public var isSmallLetter: Bool { self &- 0x61 < 26 }

    /// True for A–Z and a–z.
    @inlinable public var isLetter: Bool { (self | 0x20).isSmallLetter }

    /// True for A–Z, a–z and 0–9.
    @inlinable public var isLetterOrDigit: Bool { isLetter || isDigit }

    /// True for the digits 0–9, A–F and a–f.
    @inlinable public var isHexadecimalDigit: Bool { isDigit || (self | 0x20) &- 0x61 < 6 }

    /// The value of a hexadecimal digit in any case, 0–15. Nil for any other byte.
    @inlinable public var hexadecimalValue: UInt8? {
        if isDigit { return self &- 0x30 }
        let letter = (self | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// True for the characters that need no escape in a URI: letters, digits and `- . _ ~` (RFC 3986, section 2.3).
    @inlinable public var isUnreserved: Bool {
        isLetterOrDigit || self == 0x2D || self == 0x2E || self == 0x5F || self == 0x7E
    }

    /// The small letter of A–Z. Any other byte is unchanged.
    @inlinable public var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
