internal import COpenSSL
internal import Glibc

/// A TLS connection that another library has opened and verified, and will close: its bytes, without that library in between.
///
/// What is read from the socket is as much as there is, not one call for the head and one for the rest of each record. Some of it
/// may wait here while the socket is silent: see `mayHoldMore`.
public struct TLSStream {
    /// The result of a call.
    public enum Transfer: Hashable, Sendable {
        /// So many bytes. 0 when reading is the end that the peer has announced (RFC 8446, section 6.1).
        case moved(Int)
        /// The socket has nothing to read, or no room. A write must be repeated with the same bytes (SSL_write(3)).
        case wouldBlock
        /// The connection is broken, in a few words. Nothing more can be read or written.
        case failed(reason: String)
    }

    private let session: OpaquePointer

    /// Takes over between two calls of the library that opened the connection.
    ///
    /// Nil if OpenSSL has no memory or the handshake is not done; then nothing has changed. The process ignores broken pipes by then.
    ///
    /// - Parameters:
    ///   - session: A live `SSL` whose handshake is done, and that speaks directly to the socket; it must outlive the stream.
    ///   - descriptor: Its socket, which does not block; it is not closed here.
    public init?(takingOver session: UnsafeMutableRawPointer, descriptor: Int32) {
        let session = OpaquePointer(session)
        guard SSL_is_init_finished(session) == 1, SSL_set_fd(session, descriptor) == 1 else { return nil }
        SSL_set_read_ahead(session, 1)
        self.session = session
    }

    /// Has the process ignore SIGPIPE from now on: OpenSSL writes to sockets that may be closed, also while it shakes hands.
    public static func ignoreBrokenPipes() { _ = ignoresBrokenPipes }

    private static let ignoresBrokenPipes: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return true
    }()

    /// True if bytes were taken from the socket that have not been read, so that no event of it will announce them.
    public var mayHoldMore: Bool { SSL_has_pending(session) == 1 }

    /// Writes bytes: all of them, or none yet.
    public func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .moved(count) : stopped(result)
    }

    /// Reads at most one record's bytes.
    public func receive(into bytes: UnsafeMutableRawBufferPointer) -> Transfer {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(session, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? .moved(count) : stopped(result)
    }

    private func stopped(_ result: Int32) -> Transfer {
        let systemError = errno
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .moved(0)
        case SSL_ERROR_SYSCALL where systemError != 0: return .failed(reason: String(cString: strerror(systemError)))
        default:
            let reason = ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) }
            ERR_clear_error()
            return .failed(reason: reason ?? "the connection is broken")
        }
    }
}
