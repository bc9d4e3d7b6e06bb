internal import COpenSSL
internal import TestSupport

/// An issuer of tokens, with a key of its own that no other test has.
///
/// `@unchecked Sendable`: the key is set once and nothing changes it, so that several threads may use it (openssl-threads(7)).
public final class TokenIssuer: @unchecked Sendable {
    /// The reason that OpenSSL did not do as it was told.
    public struct Failure: Error {}

    /// The kinds of keys.
    public enum Kind: Sendable, CaseIterable {
        case rsa, p256
    }

    /// The name of the key.
    public let keyID: String
    /// The word for its signatures.
    public var algorithm: String { kind == .rsa ? "RS256" : "ES256" }

    private let kind: Kind
    private let key: OpaquePointer

    /// Makes a key. One of RSA has 2,048 bits if no other number is given.
    public init(_ kind: Kind, keyID: String, bits: Int32 = 2048) throws {
        guard let context = EVP_PKEY_CTX_new_id(kind == .rsa ? EVP_PKEY_RSA : EVP_PKEY_EC, nil) else { throw Failure() }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        let isReady = EVP_PKEY_keygen_init(context) == 1
        let isSet =
            kind == .rsa
            ? EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits)
            : EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
        guard isReady, isSet == 1, EVP_PKEY_keygen(context, &key) == 1, let key else { throw Failure() }
        (self.key, self.kind, self.keyID) = (key, kind, keyID)
    }

    deinit { EVP_PKEY_free(key) }

    /// The numbers of the public key by their names in a set: `n` and `e`, or `x` and `y`.
    public func numbers() throws -> [(name: String, bytes: [UInt8])] {
        switch kind {
        case .rsa: [("n", try number("n")), ("e", try number("e"))]
        case .p256: [("x", try number("qx", byteCount: 32)), ("y", try number("qy", byteCount: 32))]
        }
    }

    /// The public key for a set (RFC 7517), with further members.
    public func key(_ more: String = "") throws -> String {
        let members = try numbers().map { #""\#($0.name)":"\#(TokenText.part($0.bytes))""# }.joined(separator: ",")
        let type = kind == .rsa ? #""kty":"RSA""# : #""kty":"EC","crv":"P-256""#
        return #"{\#(type),"kid":"\#(keyID)",\#(members)\#(more)}"#
    }

    /// The public key in PEM.
    public func publicPEM() throws -> String {
        guard let sink = BIO_new(BIO_s_mem()) else { throw Failure() }
        defer { BIO_free(sink) }
        guard PEM_write_bio_PUBKEY(sink, key) == 1 else { throw Failure() }
        var (text, length) = ([UInt8](repeating: 0, count: BIO_ctrl_pending(sink)), 0)
        guard BIO_read_ex(sink, &text, text.count, &length) == 1 else { throw Failure() }
        return String(decoding: text, as: UTF8.self)
    }

    /// A set of the public keys of some issuers.
    public static func set(_ issuers: TokenIssuer...) throws -> String {
        #"{"keys":[\#(try issuers.map { try $0.key() }.joined(separator: ","))]}"#
    }

    /// A token with these claims, and with a header that fits if no other is given.
    public func token(_ claims: String, header: String? = nil) throws -> String {
        let text = TokenText.unsigned(header: header ?? #"{"alg":"\#(algorithm)","kid":"\#(keyID)"}"#, claims: claims)
        return text + "." + TokenText.part(try signature(of: text))
    }

    /// A signature as tokens have it.
    public func signature(of text: String) throws -> [UInt8] {
        let signature = try libraryForm(of: text)
        return kind == .rsa ? signature : Self.numbers(in: signature).flatMap { Self.widened($0) }
    }

    /// A signature in the library's form, which for ECDSA is another one (RFC 3279, section 2.2.3).
    public func libraryForm(of text: String) throws -> [UInt8] {
        let message = Array(text.utf8)
        guard let context = EVP_MD_CTX_new() else { throw Failure() }
        defer { EVP_MD_CTX_free(context) }
        var length = 2048
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw Failure() }
        return Array(signature.prefix(length))
    }

    private func number(_ name: String, byteCount: Int = 0) throws -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { throw Failure() }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        BN_bn2bin(number, &bytes)
        return byteCount > 0 ? Self.widened(bytes) : bytes
    }

    /// The two numbers of a sequence, whose length has one byte: those of P-256 have no more than 72 bytes together.
    private static func numbers(in sequence: [UInt8]) -> [[UInt8]] {
        let first = sequence.dropFirst(4).prefix(Int(sequence[3]))
        let second = sequence.dropFirst(6 + first.count)
        return [Array(first), Array(second)]
    }

    /// A number in 32 bytes.
    private static func widened(_ number: [UInt8]) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
