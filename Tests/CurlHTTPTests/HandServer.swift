import Foundation
import Glibc

/// Listens on loopback addresses; the test itself plays the server, on the thread that drives the client, so that nothing depends on
/// which of two threads is faster. No call waits.
final class HandServer {
    let port: UInt16
    private let listeners: [Int32]

    /// Listens on the same free port of each address.
    init(addresses: [String] = ["127.0.0.1"]) throws {
        var (listeners, port): ([Int32], UInt16) = ([], 0)
        for address in addresses {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = inet_addr(address)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) | listen(listener, 64) | getsockname(listener, $0, &length)
                }
            }
            guard listener >= 0, result == 0 else { throw POSIXError(.EADDRINUSE) }
            listeners.append(listener)
            port = UInt16(bigEndian: name.sin_port)
        }
        (self.listeners, self.port) = (listeners, port)
    }

    deinit {
        for listener in listeners { close(listener) }
    }

    /// The next connection, if one waits.
    func accept() -> HandConnection? {
        for listener in listeners {
            let socket = Glibc.accept(listener, nil, nil)
            if socket >= 0, fcntl(socket, F_SETFL, O_NONBLOCK) == 0 { return HandConnection(socket) }
        }
        return nil
    }
}

/// The server's end of a connection.
final class HandConnection {
    private var socket: Int32
    private var received: [UInt8] = []
    /// Whether the client has closed its end.
    private var isEnded = false

    fileprivate init(_ socket: Int32) {
        self.socket = socket
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        if socket >= 0 { close(socket) }
    }

    /// The address that the client has connected to.
    var address: String {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return String(cString: inet_ntoa(name.sin_addr))
    }

    /// What the client has sent and nobody has taken yet.
    func unread() -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: 65536)
        while !isEnded {
            let count = recv(socket, &piece, piece.count, 0)
            if count > 0 {
                received.append(contentsOf: piece[..<count])
            } else {
                isEnded = count == 0 || errno != EAGAIN
                break
            }
        }
        return received
    }

    /// A request that has come to its end, which for one without a Content-Length is its empty line.
    func takeRequest() -> String? {
        let bytes = unread()
        guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let text = String(decoding: bytes[..<head.lowerBound], as: UTF8.self)
        let length = text.components(separatedBy: "Content-Length: ").dropFirst().first?.prefix { $0.isNumber }
        let end = head.upperBound + (length.flatMap { Int($0) } ?? 0)
        guard bytes.count >= end else { return nil }
        received.removeSubrange(..<end)
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Whether the client has closed, in order or not.
    func hasEnded() -> Bool {
        _ = unread()
        return isEnded
    }

    /// Sends bytes, for which the socket must have room.
    func send(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Says that no more will come.
    func finish() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Closes with RST; the connection is good for nothing afterwards.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close(socket)
        socket = -1
        isEnded = true
    }
}
