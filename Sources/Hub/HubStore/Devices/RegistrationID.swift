/// A registration's id as the file has it: ids of three numbers, which hubs make, take less than half of their text.
enum RegistrationID {
    private static let textForm: UInt8 = 0
    private static let numberForm: UInt8 = 1
    private static let numberFormLength = 18

    /// The bytes of an id. The same id has the same bytes.
    static func bytes(of id: String) -> [UInt8] {
        let parts = id.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map { Substring($0) }
        if parts.count == 3, let first = UInt64(parts[0]), let second = UInt64(parts[1]), let third = UInt8(parts[2]),
            "\(first)-\(second)-\(third)" == id
        {
            return [numberForm] + bytes(of: first) + bytes(of: second) + [third]
        }
        return [textForm] + Array(id.utf8)
    }

    /// The id of bytes, or nil if they are of none.
    static func text(of bytes: [UInt8]) -> String? {
        if bytes.first == numberForm, bytes.count == numberFormLength {
            return "\(number(of: bytes[1..<9]))-\(number(of: bytes[9..<17]))-\(bytes[17])"
        }
        return bytes.first == textForm ? String(decoding: bytes.dropFirst(), as: UTF8.self) : nil
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func number(of bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
