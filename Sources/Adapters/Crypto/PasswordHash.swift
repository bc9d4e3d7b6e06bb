public import Basics
import COpenSSL

/// The hash of a password, with all that is needed to check one: `$scrypt$ln=14,r=8,p=1$SALT$HASH`.
///
/// scrypt (RFC 7914) with N = 2^ln; salt and hash in base64 (RFC 4648 section 4) without padding. Each hash has one spelling.
/// Checking costs the same for the right and for a wrong password.
public struct PasswordHash: Sendable {
    /// The cost of a hash: 128 · r · 2^ln bytes of memory, and time in proportion to 2^ln · r · p.
    public struct Parameters: Sendable, Equatable {
        /// The parameters of new hashes: 16 MiB, and some 50 ms of a processor.
        public static let standard = Parameters(logarithm: 14, blockSize: 8, parallelization: 1)
        /// Beyond this the memory would be more than 32 MiB.
        private static let maximumBlocks = 1 << 18
        /// Beyond this the time would be more than four times that of the standard.
        private static let maximumWork = 1 << 19

        /// The base-2 logarithm of N.
        public let logarithm: Int
        /// r.
        public let blockSize: Int
        /// p.
        public let parallelization: Int

        /// Checks what a file says. Nil when one is out of range, or when together they need more than 32 MiB, or more than four
        /// times the standard's time.
        ///
        /// - Parameters:
        ///   - ln: The base-2 logarithm of N, 1 to 17; less than 16 · r (RFC 7914 section 2).
        ///   - r: 1 to 32.
        ///   - p: 1 to 16.
        public init?(ln: Int, r: Int, p: Int) {
            guard (1...17).contains(ln), (1...32).contains(r), (1...16).contains(p), ln < 16 * r else { return nil }
            guard r << ln <= Self.maximumBlocks, (r * p) << ln <= Self.maximumWork else { return nil }
            self.init(logarithm: ln, blockSize: r, parallelization: p)
        }

        private init(logarithm: Int, blockSize: Int, parallelization: Int) {
            self.logarithm = logarithm
            self.blockSize = blockSize
            self.parallelization = parallelization
        }
    }

    /// The longest text that is looked at, in bytes.
    public static let maximumTextByteCount = 256
    private static let byteCount = 32
    private static let newSaltByteCount = 16

    /// The cost of checking.
    public let parameters: Parameters
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Reads a hash of 32 bytes, with a salt of 8 to 64, as it stands in a file. Nil when it has another form, another spelling,
    /// or parameters that are not allowed.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumTextByteCount else { return nil }
        let parts = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
        let numbers = parts[2].split(separator: ",").map { cost -> Int in Int(cost.drop { !$0.isNumber }) ?? 0 }
        guard numbers.count == 3, let parameters = Parameters(ln: numbers[0], r: numbers[1], p: numbers[2]),
            let salt = Self.bytes(ofUnpadded: parts[3]), (8...64).contains(salt.count),
            let hash = Self.bytes(ofUnpadded: parts[4]), hash.count == Self.byteCount
        else { return nil }
        self.init(parameters: parameters, salt: salt, hash: hash)
        // Whatever else could be read as the same, such as `ln=014`.
        guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// Hashes a password with a salt of its own.
    ///
    /// - Parameters:
    ///   - password: Its bytes, usually UTF-8; may be empty.
    ///   - parameters: What it costs.
    /// - Throws: `CryptoError.openSSL` when there is no memory or no entropy.
    public init(of password: [UInt8], parameters: Parameters = .standard) throws(CryptoError) {
        let salt = try randomBytes(Self.newSaltByteCount)
        let hash = try Self.scrypt(password, salt: salt, parameters: parameters, byteCount: Self.byteCount)
        self.init(parameters: parameters, salt: salt, hash: hash)
    }

    /// A hash that no password has, for names that no user has: checking it costs what checking a wrong password costs.
    ///
    /// - Parameter parameters: What checking costs.
    /// - Throws: `CryptoError.openSSL` when there is no entropy.
    public init(matchingNothing parameters: Parameters) throws(CryptoError) {
        self.init(
            parameters: parameters, salt: try randomBytes(Self.newSaltByteCount), hash: try randomBytes(Self.byteCount))
    }

    private init(parameters: Parameters, salt: [UInt8], hash: [UInt8]) {
        self.parameters = parameters
        self.salt = salt
        self.hash = hash
    }

    /// Checks a password. The hashes are compared in constant time.
    ///
    /// - Parameter password: Its bytes.
    /// - Returns: Whether it is the one that was hashed.
    /// - Throws: `CryptoError.openSSL` when there is no memory.
    public func matches(_ password: [UInt8]) throws(CryptoError) -> Bool {
        constantTimeEqual(
            hash, try Self.scrypt(password, salt: salt, parameters: parameters, byteCount: hash.count))
    }

    /// The hash as it is written in a file, and for nothing else.
    public var text: String {
        let costs = "ln=\(parameters.logarithm),r=\(parameters.blockSize),p=\(parameters.parallelization)"
        return "$scrypt$\(costs)$\(Self.unpadded(salt))$\(Self.unpadded(hash))"
    }

    /// Derives a key from a password (RFC 7914 section 6, `EVP_PBE_scrypt(3)`).
    ///
    /// - Parameters:
    ///   - password: Its bytes; may be empty.
    ///   - salt: May be empty.
    ///   - parameters: What it costs.
    ///   - byteCount: The length of the key, 1 or more.
    /// - Returns: The key.
    /// - Throws: `CryptoError.openSSL` when there is no memory.
    public static func scrypt(
        _ password: [UInt8], salt: [UInt8], parameters: Parameters, byteCount: Int
    ) throws(CryptoError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: max(1, byteCount))
        let characters = password.map { CChar(truncatingIfNeeded: $0) }
        let (n, r, p) = (
            UInt64(1) << UInt64(parameters.logarithm), UInt64(parameters.blockSize), UInt64(parameters.parallelization)
        )
        // Just what the function needs; what it allows by itself ends at 32 MiB in all.
        let memory = 128 * r * (n + 2 + p)
        guard EVP_PBE_scrypt(characters, characters.count, salt, salt.count, n, r, p, memory, &key, key.count) == 1
        else { throw .last("hash a password") }
        return key
    }

    private static func unpadded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes).filter { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }

    private static func bytes(ofUnpadded text: String) -> [UInt8]? {
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.utf8.count % 4) % 4)
        return Base64.decode(Array(text.utf8) + padding)
    }
}

extension PasswordHash: Equatable {
    /// True if parameters, salt and hash are the same, compared in constant time where it matters.
    public static func == (left: PasswordHash, right: PasswordHash) -> Bool {
        left.parameters == right.parameters && left.salt == right.salt && constantTimeEqual(left.hash, right.hash)
    }
}

extension PasswordHash: Concealed {
    /// Says what it is, but neither salt nor hash.
    public var description: String { "PasswordHash(redacted)" }
}
