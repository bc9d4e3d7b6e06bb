import Glibc

/// A TCP socket on the loopback interface. The caller closes it once.
struct Socket: Sendable {
    let descriptor: Int32

    /// A socket that listens; port 0 takes a free one.
    static func listening(port: UInt16) throws -> Socket {
        let made = try make()
        var yes: Int32 = 1
        setsockopt(made.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let code = withAddress(port) { bind(made.descriptor, $0, $1) }
        guard code == 0, listen(made.descriptor, 256) == 0 else {
            let reason = errno
            made.close()
            throw SuiteError.system("listening on port \(port)", reason)
        }
        return made
    }

    /// A connection to a port, from 127.0.0.`host`.
    static func connected(port: UInt16, from host: UInt8 = 1) throws -> Socket {
        let made = try make()
        guard host == 1 || withAddress(0, host: host, { bind(made.descriptor, $0, $1) }) == 0,
            withAddress(port, { connect(made.descriptor, $0, $1) }) == 0
        else {
            let reason = errno
            made.close()
            throw SuiteError.system("connecting to port \(port)", reason)
        }
        var yes: Int32 = 1
        setsockopt(made.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return made
    }

    /// The next connection of a listening socket; nil when it was shut down.
    func accepted() -> Socket? {
        while true {
            let descriptor = Glibc.accept(descriptor, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                var yes: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                return Socket(descriptor: descriptor)
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// The port that it is bound to.
    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Reads what is there, at most `limit` bytes; empty at the end or after an error.
    func read(atMost limit: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            var result = Glibc.read(descriptor, buffer.baseAddress, limit)
            while result < 0 && errno == EINTR { result = Glibc.read(descriptor, buffer.baseAddress, limit) }
            count = max(result, 0)
        }
    }

    /// Reads exactly so many bytes; nil when the stream ends before.
    func read(exactly count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let piece = read(atMost: count - bytes.count)
            guard !piece.isEmpty else { return nil }
            bytes += piece
        }
        return bytes
    }

    /// Whether the other side has closed, without a wait. What it sent before is read and dropped.
    var hasEnded: Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            if count <= 0 { return count == 0 || (errno != EAGAIN && errno != EINTR) }
        }
    }

    /// Writes everything; false when the other side is gone.
    func write(_ bytes: [UInt8]) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + written, bytes.count - written, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }

    /// Gives up after so long without a byte.
    func setTimeout(_ limit: Duration) {
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Ends both directions, which wakes whoever reads.
    func shut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the connection with a reset instead of an orderly close.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { Glibc.close(descriptor) }

    private static func make() throws -> Socket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SuiteError.system("socket", errno) }
        return Socket(descriptor: descriptor)
    }

    private static func withAddress(_ port: UInt16, host: UInt8 = 1, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7f00_0000 | UInt32(host)).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
