import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

/// The reason that a request which was written to a connection is never taken for undelivered on the word of TCP.
@Suite(.tags(.c)) struct AcknowledgementTests {
    /// A peer's kernel acknowledges late. So a FIN that came, and no byte of the request acknowledged, does not mean that the peer's
    /// application has no byte: one that closed its own direction first reads the request, and a reset takes the acknowledgement with it.
    /// A request sent again by such a rule would ring twice.
    @Test func aRequestMayBeReadWholeThoughItsPeerHasSentAFINAndAcknowledgedNoByte() throws {
        let request = [UInt8](repeating: 0x79, count: 500)
        // The kernel may acknowledge at once now and then, or when this thread rests for 40 ms.
        let isSeen = try (0..<50).contains { _ in
            let pair = try SocketPair()
            for _ in 0..<3 { try pair.exchange() }
            shutdown(pair.server, Int32(SHUT_WR))
            try #require(pair.wait(for: SocketPair.ended), "the FIN has come")
            let before = try pair.acknowledged()
            try #require(send(pair.client, request, request.count, 0) == request.count)
            try #require(pair.read(request.count) == request)
            pair.reset()
            try #require(pair.wait(for: Int16(POLLHUP)), "the reset has come")
            return try pair.acknowledged() == before
        }
        #expect(isSeen)
    }

    /// What the kernel says is counted at all: an answered request is acknowledged.
    @Test func anAnswerAcknowledgesItsRequest() throws {
        let pair = try SocketPair()
        let before = try pair.acknowledged()
        try pair.exchange()
        #expect(try pair.acknowledged() == before + 300)
    }
}

/// Both ends of a TCP connection on loopback.
private final class SocketPair {
    /// POLLRDHUP, which Glibc shows to GNU sources only.
    static let ended: Int16 = 0x2000

    let client: Int32
    private(set) var server: Int32

    init() throws {
        let listener = try LoopbackListener.bound()
        defer { close(listener.descriptor) }
        guard listen(listener.descriptor, 1) == 0, let client = Relay.connect(to: listener.port) else {
            throw POSIXError(.ECONNREFUSED)
        }
        self.client = client
        server = accept(listener.descriptor, nil, nil)
        var on: Int32 = 1
        setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        try #require(server >= 0)
    }

    deinit {
        close(client)
        if server >= 0 { close(server) }
    }

    /// A request of 300 bytes and its answer: a connection that is in use acknowledges by its answers.
    func exchange() throws {
        let request = [UInt8](repeating: 0x78, count: 300)
        try #require(send(client, request, request.count, 0) == request.count)
        try #require(read(request.count) == request)
        try #require(send(server, [1, 2], 2, 0) == 2)
        var answer: [UInt8] = [0, 0]
        let received = recv(client, &answer, 2, Int32(MSG_WAITALL))
        try #require(received == 2)
    }

    /// Bytes that the server's application reads.
    func read(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(server, &bytes, count, Int32(MSG_WAITALL))
        return Array(bytes[..<max(0, received)])
    }

    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(server, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close(server)
        server = -1
    }

    /// Waits until the client's end has an event of poll(2).
    func wait(for event: Int16) -> Bool {
        eventually {
            var entry = pollfd(fd: client, events: event, revents: 0)
            return poll(&entry, 1, 100) == 1 && entry.revents & event != 0
        }
    }

    /// Bytes of the client's that the server's kernel has acknowledged: `tcpi_bytes_acked`, at 120 in Linux's `struct tcp_info`.
    func acknowledged() throws -> UInt64 {
        var info = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(info.count)
        try #require(getsockopt(client, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0 && length >= 128)
        return info.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 120, as: UInt64.self) }
    }
}
