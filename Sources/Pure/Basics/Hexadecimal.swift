/// Numbers and bytes as hexadecimal digits.
public enum Hexadecimal {
    /// The small digit of a value.
    ///
    /// - Parameter value: 0–15.
    /// - Returns: An ASCII character.
    @inlinable @inline(__always) public static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The capital digit of a value.
    ///
    /// - Parameter value: 0–15.
    /// - Returns: An ASCII character.
    @inlinable @inline(__always) public static func capitalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Writes each byte as two small digits.
    @inlinable public static func digits(of bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }
    }

    /// Writes a number as 16 small digits, the most significant first.
    public static func text(_ number: UInt64) -> String {
        String(decoding: stride(from: 60, through: 0, by: -4).map { digit(UInt8(number >> UInt64($0) & 15)) }, as: UTF8.self)
    }
}
