import Foundation
import Glibc

/// A socket that listens on a free loopback port, and the thread that accepts from it.
///
/// Only that thread closes the socket. Were it closed elsewhere, its number could be another server's by the next `accept`, which would
/// take a connection of that one and leave it without an answer.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// Listens; `start` must follow.
    ///
    /// - Throws: The system's own error.
    init(backlog: Int32 = 64) throws {
        (descriptor, port) = try Self.bound()
        guard listen(descriptor, backlog) == 0 else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
    }

    /// Accepts until this object is gone.
    ///
    /// - Parameter serve: Gets each connection, on the thread that accepts, and closes it.
    func start(_ serve: @escaping @Sendable (Int32) -> Void) {
        let descriptor = descriptor
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                if connection >= 0 {
                    serve(connection)
                } else if errno == EINVAL {
                    // It was shut down, and by nobody but `deinit`.
                    break
                }
            }
            close(descriptor)
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// A socket on a free loopback port, which refuses connections as long as it does not listen.
    static func bound() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard descriptor >= 0, isBound else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}

/// A loopback port that refuses connections, and that no other server gets while this object is there.
final class RefusedPort {
    let port: UInt16
    private let descriptor: Int32

    init() throws { (descriptor, port) = try LoopbackListener.bound() }

    deinit { close(descriptor) }
}
