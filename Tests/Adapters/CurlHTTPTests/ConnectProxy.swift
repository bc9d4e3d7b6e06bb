import Foundation
import Glibc
import Synchronization

/// A proxy on a free loopback port that knows only CONNECT (RFC 9110, section 9.3.6), each connection on a thread of its own. Whatever
/// the host is called, it goes to that port of this machine.
final class ConnectProxy: Sendable {
    private let listener: LoopbackListener
    private let state = Mutex(State())

    private struct State {
        var heads: [String] = []
        var clients: Set<Int32> = []
    }

    init() throws {
        listener = try LoopbackListener()
        listener.start { [weak self] client in
            guard let self else { return _ = close(client) }
            Thread.detachNewThread { self.serve(client) }
        }
    }

    var port: UInt16 { listener.port }

    /// The heads of all requests so far.
    var requests: [String] { state.withLock { $0.heads } }

    /// Ends every tunnel, as a proxy does that is stopped; it goes on to open new ones.
    func breakOff() {
        state.withLock { state in for client in state.clients { shutdown(client, Int32(SHUT_RDWR)) } }
    }

    private func serve(_ client: Int32) {
        state.withLock { _ = $0.clients.insert(client) }
        defer {
            state.withLock { _ = $0.clients.remove(client) }
            close(client)
        }
        // A client waits for the answer before it sends more, so this is all there is.
        guard let head = Self.head(from: client) else { return }
        state.withLock { $0.heads.append(head) }
        let target = head.split(separator: " ").dropFirst().first ?? ""
        guard head.hasPrefix("CONNECT "), let port = target.split(separator: ":").last.flatMap({ UInt16($0) }),
            let hub = Relay.connect(to: port)
        else { return }
        defer { close(hub) }
        guard ScriptedServer.send(client, Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)) else { return }
        Relay.run(client, hub)
    }

    private static func head(from client: Int32) -> String? {
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while !head.reversed().starts(with: "\n\r\n\r".utf8) {
            let count = recv(client, &piece, piece.count, 0)
            guard count > 0 else { return nil }
            head += piece[..<count]
        }
        return String(decoding: head, as: UTF8.self)
    }
}

/// Passes bytes on between two sockets.
enum Relay {
    /// A connection to a port of this machine; nil when it is refused.
    static func connect(to port: UInt16) -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return socket }
        close(socket)
        return nil
    }

    /// Waits until one of two sockets has something to read.
    ///
    /// - Returns: Which of them have; nil when that cannot be known.
    static func wait(_ first: Int32, _ second: Int32) -> (first: Bool, second: Bool)? {
        var watched = [first, second].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&watched, 2, -1) > 0 else { return nil }
        return (watched[0].revents != 0, watched[1].revents != 0)
    }

    /// Reads once; when the other end was broken off, so will be the socket that this was for.
    ///
    /// - Returns: Nothing at the end.
    static func read(_ socket: Int32, for other: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(socket, &buffer, buffer.count, 0)
        if count < 0 {
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(other, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        }
        return Array(buffer[..<max(0, count)])
    }

    /// Passes bytes on until one side ends.
    static func run(_ client: Int32, _ hub: Int32) {
        while let ready = wait(client, hub) {
            if ready.second {
                let bytes = read(hub, for: client)
                guard !bytes.isEmpty, ScriptedServer.send(client, bytes) else { return }
            }
            if ready.first {
                let bytes = read(client, for: hub)
                guard !bytes.isEmpty, ScriptedServer.send(hub, bytes) else { return }
            }
        }
    }
}
