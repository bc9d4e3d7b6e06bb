internal import COpenSSL

/// The certificates that a TLS connection trusts, loaded once and shared by every connection.
///
/// libcurl would load the system's certificates again for each connection, 25 ms of CPU and nearly 1 MB a time (measured, 7.88).
///
/// `@unchecked Sendable`: `store` is set once and never replaced; OpenSSL guards an X509_STORE with a lock of its own and counts
/// references atomically (openssl-threads(7), X509_STORE_new(3)), and after `init` nothing here changes it.
public final class CertificateStore: @unchecked Sendable {
    /// The reason that no store could be made.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file is missing, unreadable, or holds no certificate, with OpenSSL's reason beside it.
        case unusableFile(path: String, reason: String)
        /// OpenSSL could not set up its default locations, with its reason.
        case noSystemStore(reason: String)

        /// One line for people.
        public var description: String {
            switch self {
            case .unusableFile(let path, let reason): "no certificates in \(path): \(reason)"
            case .noSystemStore(let reason): "no system certificates: \(reason)"
            }
        }
    }

    private let store: OpaquePointer

    /// Loads the system's certificates, or those of one PEM file.
    ///
    /// - Parameter file: PEM file that replaces the system's certificates; nil for OpenSSL's default locations, which the
    ///   variables SSL_CERT_FILE and SSL_CERT_DIR move (X509_STORE_set_default_paths(3)).
    /// - Throws: `Failure.unusableFile` or `Failure.noSystemStore`.
    public init(file: String? = nil) throws(Failure) {
        ERR_clear_error()
        guard let store = X509_STORE_new() else { throw .noSystemStore(reason: Self.lastReason()) }
        self.store = store
        if let file {
            guard X509_STORE_load_file(store, file) == 1 else { throw .unusableFile(path: file, reason: Self.lastReason()) }
        } else {
            guard X509_STORE_set_default_paths(store) == 1 else { throw .noSystemStore(reason: Self.lastReason()) }
        }
    }

    deinit {
        X509_STORE_free(store)
    }

    /// Makes a live `SSL_CTX`, such as libcurl passes to `CURLOPT_SSL_CTX_FUNCTION`, verify against this store. It holds its own
    /// reference.
    public func attach(toSSLContext context: UnsafeMutableRawPointer) {
        SSL_CTX_set1_cert_store(OpaquePointer(context), store)
    }

    private static func lastReason() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard let reason = ERR_reason_error_string(code) else { return "unknown" }
        return String(cString: reason)
    }
}
