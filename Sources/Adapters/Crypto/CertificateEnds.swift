internal import COpenSSL

/// The moments at which the certificates of a PEM text end (RFC 5280 section 4.1.2.5, `notAfter`).
public struct CertificateEnds: Sendable, Equatable {
    /// Those of all certificates in the order of the text, at least one, in seconds since 1970.
    public let moments: [Int64]

    /// The end of the first that ends: from then on a chain of them is not valid.
    public var first: Int64 { moments.min() ?? .min }
    /// The end of the last that ends: from then on none of them vouches for anybody.
    public var last: Int64 { moments.max() ?? .min }

    /// Reads the certificates of a text. Keys and whatever else is in it are passed over.
    ///
    /// - Parameter pem: The PEM text.
    /// - Throws: `CryptoError.openSSL` where there is no certificate in it, or one that cannot be read.
    public init(pem: String) throws(CryptoError) {
        let bytes = Array(pem.utf8)
        guard let source = BIO_new(BIO_s_mem()) else { throw .last("prepare PEM text") }
        defer { BIO_free(source) }
        var length = 0
        guard bytes.isEmpty || BIO_write_ex(source, bytes, bytes.count, &length) == 1 else { throw .last("read PEM text") }
        moments = try Self.moments(source)
    }

    /// Reads the certificates of a file.
    ///
    /// - Parameter file: The path of a PEM file.
    /// - Throws: `CryptoError.openSSL` where it cannot be read, or has no certificate, or one that cannot be read.
    public init(file: String) throws(CryptoError) {
        guard let source = BIO_new_file(file, "r") else { throw .last("open a file of certificates") }
        defer { BIO_free(source) }
        moments = try Self.moments(source)
    }

    private static func moments(_ source: OpaquePointer) throws(CryptoError) -> [Int64] {
        var moments: [Int64] = []
        ERR_clear_error()
        while let certificate = PEM_read_bio_X509(source, nil, nil, nil) {
            defer { X509_free(certificate) }
            moments.append(try end(of: certificate))
        }
        // The end of the text is an error of its own.
        guard !moments.isEmpty, ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
            throw .last("read a certificate")
        }
        ERR_clear_error()
        return moments
    }

    private static func end(of certificate: OpaquePointer) throws(CryptoError) -> Int64 {
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard let origin = ASN1_TIME_set(nil, 0) else { throw .last("make a time") }
        defer { ASN1_TIME_free(origin) }
        guard ASN1_TIME_diff(&days, &seconds, origin, X509_get0_notAfter(certificate)) == 1 else {
            throw .last("read a certificate's end")
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}
