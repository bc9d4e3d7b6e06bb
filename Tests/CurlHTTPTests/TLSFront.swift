import COpenSSL
import Crypto
import Foundation
import Glibc

/// Ends TLS on a free loopback port for a plain server of this machine, each connection on a thread of its own.
final class TLSFront: Sendable {
    let port: UInt16
    private let listener: Int32

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - certificate: What it shows to its clients.
    ///   - backend: The plain server's port; how that one ends a connection is passed on.
    /// - Throws: No port is free, or OpenSSL refuses the certificate.
    init(_ certificate: ServerCertificate, before backend: UInt16) throws {
        // OpenSSL writes to sockets whose other end is gone.
        signal(SIGPIPE, SIG_IGN)
        guard let made = SSL_CTX_new(TLS_server_method()),
            SSL_CTX_use_certificate_chain_file(made, certificate.certificateFile) == 1,
            SSL_CTX_use_PrivateKey_file(made, certificate.keyFile, SSL_FILETYPE_PEM) == 1
        else { throw POSIXError(.EINVAL) }
        (listener, port) = try ScriptedServer.listen(64)
        let listener = listener
        // OpenSSL counts the references of a context atomically, and nothing changes it from here on.
        nonisolated(unsafe) let context = made
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return SSL_CTX_free(context) }
                Thread.detachNewThread {
                    Self.serve(client, SSL_new(context), backend)
                    close(client)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Which of both have something to read; of the client it may be in OpenSSL's memory.
    private static func readable(_ session: OpaquePointer, _ client: Int32, _ server: Int32) -> (first: Bool, second: Bool)? {
        if SSL_pending(session) > 0 { return (true, false) }
        return Relay.wait(client, server)
    }

    private static func serve(_ client: Int32, _ session: OpaquePointer?, _ backend: UInt16) {
        guard let session else { return }
        defer { SSL_free(session) }
        guard SSL_set_fd(session, client) == 1, SSL_accept(session) == 1, let server = Relay.connect(to: backend) else { return }
        defer { close(server) }
        while let ready = readable(session, client, server) {
            if ready.second {
                let bytes = Relay.read(server, for: client)
                if bytes.isEmpty {
                    SSL_shutdown(session)
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
