/// Character classes of RFC 9110, section 5.6.2, and RFC 9112 as tests on one byte.
enum ByteClass {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let comma: UInt8 = 0x2C
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B

    /// A token's character: letters, digits and !#$%&'*+-.^_`|~ as a bitmap of ASCII's two halves.
    static func isToken(_ byte: UInt8) -> Bool {
        let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && (bits >> UInt64(byte & 63)) & 1 == 1
    }

    /// A visible character, space, tab, or a byte above ASCII: what a field's value and a reason may hold.
    static func isText(_ byte: UInt8) -> Bool { (byte >= space && byte != 0x7F) || byte == tab }

    /// A visible ASCII character.
    static func isVisible(_ byte: UInt8) -> Bool { byte > space && byte < 0x7F }

    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }
}
