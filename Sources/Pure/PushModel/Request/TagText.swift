/// The rule for the text of a tag, and of a name that becomes one as it stands ("Routing and tag expressions").
public enum TagText {
    /// Most characters of a tag, and of the id in a reserved one.
    public static let maximumLength = 120

    /// True for a letter, a digit or one of `_ @ # . : -`.
    @inlinable public static func isCharacter(_ byte: UInt8) -> Bool {
        // A bit for each of them: `#`, `-`, `.`, the digits and `:` in the first word; `@`, the letters and `_` in the second.
        let word: UInt64 = byte < 64 ? 0x07FF_6008_0000_0000 : 0x07FF_FFFE_87FF_FFFF
        return byte < 128 && word >> UInt64(byte & 63) & 1 == 1
    }
}
