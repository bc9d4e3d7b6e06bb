/// The value of a field of a log line.
public enum LogValue: Sendable, Equatable {
    /// Text, cut off after 1,024 bytes.
    case string(String)
    /// A whole number.
    case int(Int64)
    /// A number. Infinities and NaN are written as text, for JSON has none.
    case double(Double)
    /// True or false.
    case bool(Bool)

    /// Text from bytes of unknown origin: what is not UTF-8 becomes U+FFFD.
    public init(bytes: some Collection<UInt8>) {
        self = .string(String(decoding: bytes.prefix(TextEscaping.byteLimit + 4), as: UTF8.self))
    }

    /// A whole number of any width. A number beyond 64 bits becomes the nearest that fits.
    public init(_ number: some BinaryInteger) {
        self = .int(Int64(clamping: number))
    }

    /// The mark that stands for a secret, never the secret.
    public init<Secret>(_ secret: Redacted<Secret>) {
        self = .string(secret.description)
    }
}

extension LogValue: ExpressibleByStringLiteral {
    /// Text known when the program was written.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension LogValue: ExpressibleByIntegerLiteral {
    /// A number known when the program was written.
    public init(integerLiteral value: Int64) { self = .int(value) }
}

extension LogValue: ExpressibleByFloatLiteral {
    /// A number known when the program was written.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension LogValue: ExpressibleByBooleanLiteral {
    /// True or false, known when the program was written.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
