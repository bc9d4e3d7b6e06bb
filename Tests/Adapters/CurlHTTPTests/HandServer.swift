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
            let listener = try Self.listen(address, port)
            listeners.append(listener)
            port = UInt16(Self.ownName(of: listener).port) ?? 0
        }
        (self.listeners, self.port) = (listeners, port)
    }

    deinit {
        for listener in listeners { close(listener) }
    }

    /// Whether this machine has an address.
    static func canListen(on address: String) -> Bool {
        guard let listener = try? listen(address, 0) else { return false }
        close(listener)
        return true
    }

    private static func listen(_ address: String, _ port: UInt16) throws -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let name = list?.pointee else { throw POSIXError(.EINVAL) }
        defer { freeaddrinfo(list) }
        let listener = socket(name.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard listener >= 0, bind(listener, name.ai_addr, name.ai_addrlen) == 0, Glibc.listen(listener, 64) == 0 else {
            close(listener)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        return listener
    }

    /// The address and the port of this end of a socket.
    fileprivate static func ownName(of socket: Int32) -> (address: String, port: String) {
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var (address, port) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 8))
        _ = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(socket, $0, &length)
                    | getnameinfo($0, length, &address, 64, &port, 8, NI_NUMERICHOST | NI_NUMERICSERV)
            }
        }
        let texts = [address, port].map { String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) }
        return (texts[0], texts[1])
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
    var address: String { HandServer.ownName(of: socket).address }

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
        let end = head.upperBound + Int(length.flatMap { UInt32($0) } ?? 0)
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
