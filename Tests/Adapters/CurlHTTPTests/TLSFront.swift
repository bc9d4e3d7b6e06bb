import COpenSSL
import Crypto
import Foundation
import Glibc

/// Ends TLS on a free loopback port for a plain server of this machine, each connection on a thread of its own.
final class TLSFront: Sendable {
    private let listener: LoopbackListener

    var port: UInt16 { listener.port }

    /// OpenSSL counts the references of a context atomically, and nothing changes it once it is made.
    private final class Context: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) { self.pointer = pointer }

        deinit { SSL_CTX_free(pointer) }
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - certificate: What it shows to its clients.
    ///   - backend: The plain server's port; how that one ends a connection is passed on.
    ///   - saysEnd: False for one that closes without OpenSSL's `close_notify`.
    /// - Throws: No port is free, or OpenSSL refuses the certificate.
    init(_ certificate: ServerCertificate, before backend: UInt16, saysEnd: Bool = true) throws {
        // OpenSSL writes to sockets whose other end is gone.
        signal(SIGPIPE, SIG_IGN)
        guard let made = SSL_CTX_new(TLS_server_method()) else { throw POSIXError(.ENOMEM) }
        let context = Context(made)
        guard SSL_CTX_use_certificate_chain_file(made, certificate.certificateFile) == 1,
            SSL_CTX_use_PrivateKey_file(made, certificate.keyFile, SSL_FILETYPE_PEM) == 1
        else { throw POSIXError(.EINVAL) }
        listener = try LoopbackListener()
        listener.start { client in
            Thread.detachNewThread {
                Self.serve(client, SSL_new(context.pointer), backend, saysEnd)
                close(client)
            }
        }
    }

    /// Which of both have something to read; of the client it may be in OpenSSL's memory.
    private static func readable(_ session: OpaquePointer, _ client: Int32, _ server: Int32) -> (first: Bool, second: Bool)? {
        if SSL_pending(session) > 0 { return (true, false) }
        return Relay.wait(client, server)
    }

    private static func serve(_ client: Int32, _ session: OpaquePointer?, _ backend: UInt16, _ saysEnd: Bool) {
        guard let session else { return }
        defer { SSL_free(session) }
        guard SSL_set_fd(session, client) == 1, SSL_accept(session) == 1, let server = Relay.connect(to: backend) else { return }
        defer { close(server) }
        while let ready = readable(session, client, server) {
            if ready.second {
                let bytes = Relay.read(server, for: client)
                if bytes.isEmpty {
                    if saysEnd { SSL_shutdown(session) }
                    return
                }
                guard SSL_write(session, bytes, Int32(bytes.count)) == Int32(bytes.count) else { return }
            }
            if ready.first {
                var bytes = [UInt8](repeating: 0, count: 16 << 10)
                let count = SSL_read(session, &bytes, Int32(bytes.count))
                guard count > 0, ScriptedServer.send(server, Array(bytes[..<Int(count)])) else { return }
            }
        }
    }
}

/// A certificate that is its own authority, and its key, as files.
final class ServerCertificate: Sendable {
    private let folder: URL

    init(hosts: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushfan-certificate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let made = try SelfSignedCertificate(hosts: hosts)
        try Data(made.certificatePEM.utf8).write(to: URL(fileURLWithPath: certificateFile))
        try Data(made.privateKeyPEM.utf8).write(to: URL(fileURLWithPath: keyFile))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var certificateFile: String { folder.appendingPathComponent("certificate.pem").path }
    var keyFile: String { folder.appendingPathComponent("key.pem").path }
}
