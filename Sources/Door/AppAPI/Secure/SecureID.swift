import Basics

/// The id by which an app fetches the text of a secure push: 128 random bits, and the place of the record that has the text.
///
/// The random bits open that record, so the id is a secret: no description shows it. Whether they are right shows the record alone.
package struct SecureID: Sendable, Equatable {
    /// How many random bytes an id has.
    static let secretByteCount = 16
    private static let byteCount = secretByteCount + 4 + 8
    private static let textLength = 38

    /// The random bytes.
    let secret: [UInt8]
    /// The record's partition, from 0.
    let partition: Int32
    /// The record's offset, from 0.
    let offset: Int64

    /// The id of a record that is written.
    init(secret: [UInt8], partition: Int32, offset: Int64) {
        self.secret = secret
        self.partition = partition
        self.offset = offset
    }

    /// Reads an id; nil for what ``text`` never is.
    init?(_ text: String) {
        guard text.utf8.count == Self.textLength else { return nil }
        let standard = text.utf8.map { character -> UInt8 in
            switch character {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"): 0
            default: character
            }
        }
        guard let bytes = Base64.decode(standard + Array("==".utf8)), bytes.count == Self.byteCount,
            let partition = Int32(exactly: Self.number(bytes[16..<20])), let offset = Int64(exactly: Self.number(bytes[20...]))
        else { return nil }
        self.init(secret: Array(bytes.prefix(Self.secretByteCount)), partition: partition, offset: offset)
    }

    /// The id as apps have it: 38 letters, digits, `-` and `_` (base64url, RFC 4648 section 5). Each id has one spelling.
    var text: String {
        let bytes =
            secret + Self.bytes(of: UInt64(UInt32(bitPattern: partition)), count: 4)
            + Self.bytes(of: UInt64(bitPattern: offset), count: 8)
        let characters = Base64.encode(bytes).prefix(Self.textLength).map { character -> UInt8 in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// The last bytes of a number, the greatest first.
    private static func bytes(of number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { place in UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - place))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(UInt64(0)) { number, byte in number << 8 | UInt64(byte) }
    }
}

extension SecureID: Concealed {
    package var description: String { "SecureID(redacted)" }
}
