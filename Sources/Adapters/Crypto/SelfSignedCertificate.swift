public import Basics
import COpenSSL

/// A new P-256 key with an X.509 v3 certificate that it signed itself, for a server on a developer's machine.
///
/// The certificate names its hosts in the subject alternative name (RFC 5280 section 4.2.1.6), is its own authority
/// and may serve TLS only. It begins one hour in the past, so that a client whose clock is a little behind accepts it.
public struct SelfSignedCertificate: Sendable {
    /// The certificate in PEM, safe to show, and to hand to clients as their only authority.
    public let certificatePEM: String
    /// The private key in PEM (PKCS #8, not encrypted), which is a secret.
    public let privateKeyPEM: String

    /// Makes a key and signs a certificate.
    ///
    /// - Parameters:
    ///   - hosts: DNS names (a leading `*.` is allowed) and IP addresses, IPv6 with or without brackets; at least one.
    ///   - validityDays: 1…3650, counted from now. Default 30.
    /// - Throws: `CryptoError.noHosts`, `.invalidHost`, `.invalidValidity`, or `.openSSL`.
    public init(hosts: [String], validityDays: Int = 30) throws(CryptoError) {
        guard (1...3650).contains(validityDays) else { throw .invalidValidity(days: validityDays) }
        let names = try Self.alternativeNames(of: hosts)
        let key = try Self.makeKey()
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw .last("make a certificate") }
        defer { X509_free(certificate) }
        try Self.fill(certificate, key: key, validityDays: validityDays)
        try Self.add(NID_subject_alt_name, value: names, to: certificate)
        try Self.add(NID_basic_constraints, value: "critical,CA:TRUE", to: certificate)
        try Self.add(NID_key_usage, value: "critical,digitalSignature,keyCertSign", to: certificate)
        try Self.add(NID_ext_key_usage, value: "serverAuth", to: certificate)
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw .last("sign a certificate") }
        certificatePEM = try Self.pem { PEM_write_bio_X509($0, certificate) }
        privateKeyPEM = try Self.pem { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// The caller owns the key and frees it.
    private static func makeKey() throws(CryptoError) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .last("prepare a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw .last("make a key") }
        return key
    }

    /// Sets version, serial number, subject, issuer, validity and public key. All are copied into the certificate.
    private static func fill(_ certificate: OpaquePointer, key: OpaquePointer, validityDays: Int) throws(CryptoError) {
        // Positive and unpredictable (RFC 5280 section 4.1.2.2).
        let serial = try randomBytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1 | 1
        guard X509_set_version(certificate, 2) == 1,  // counted from zero: v3
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1,
            X509_time_adj_ex(X509_getm_notBefore(certificate), 0, -3600, nil) != nil,
            X509_time_adj_ex(X509_getm_notAfter(certificate), Int32(validityDays), 0, nil) != nil,
            X509_set_pubkey(certificate, key) == 1,
            let subject = X509_get_subject_name(certificate),  // owned by the certificate
            X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_FLAG | 1, "self-signed", -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, subject) == 1
        else { throw .last("fill in a certificate") }
    }

    private static func add(_ kind: Int32, value: String, to certificate: OpaquePointer) throws(CryptoError) {
        guard let part = X509V3_EXT_conf_nid(nil, nil, kind, value) else { throw .last("make a certificate extension") }
        defer { X509_EXTENSION_free(part) }  // X509_add_ext takes a copy
        guard X509_add_ext(certificate, part, -1) == 1 else { throw .last("add a certificate extension") }
    }

    private static func pem(_ write: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
        guard let sink = BIO_new(BIO_s_mem()) else { throw .last("prepare PEM text") }
        defer { BIO_free(sink) }
        guard write(sink) == 1 else { throw .last("write PEM text") }
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(sink))
        var length = 0
        guard BIO_read_ex(sink, &text, text.count, &length) == 1, length == text.count else { throw .last("read PEM text") }
        return String(decoding: text, as: UTF8.self)
    }
}

extension SelfSignedCertificate {
    /// Spells the hosts as OpenSSL's configuration text wants them (`x509v3_config(5)`).
    ///
    /// Each host is checked against a closed alphabet first, so that none can add a name of its own with a comma.
    private static func alternativeNames(of hosts: [String]) throws(CryptoError) -> String {
        guard !hosts.isEmpty else { throw .noHosts }
        var names: [String] = []
        for (index, host) in hosts.enumerated() {
            guard let name = alternativeName(of: host) else { throw .invalidHost(index: index) }
            names.append(name)
        }
        return names.joined(separator: ",")
    }

    private static func alternativeName(of host: String) -> String? {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let text = isBracketed ? String(host.dropFirst().dropLast()) : host
        let isAddressText = !text.isEmpty && text.utf8.allSatisfy { $0.isHexadecimalDigit || ".:".utf8.contains($0) }
        if isAddressText, let address = a2i_IPADDRESS(text) {
            ASN1_OCTET_STRING_free(address)
            return "IP:" + text
        }
        ERR_clear_error()
        return !isBracketed && isDNSName(text) ? "DNS:" + text : nil
    }

    private static func isDNSName(_ text: String) -> Bool {
        let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && labels.allSatisfy { (1...63).contains($0.count) && $0.allSatisfy(isNameByte) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}

extension SelfSignedCertificate: Concealed {
    /// Says what it is, but never the private key.
    public var description: String { "SelfSignedCertificate(private key redacted)" }
}
