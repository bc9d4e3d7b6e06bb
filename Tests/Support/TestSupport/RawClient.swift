import Glibc

/// A blocking TCP connection to a loopback server; no wait is longer than `farDeadline`.
public final class RawClient {
    /// A call of the system that failed, and its number.
    public struct Failure: Error {
        /// The call.
        public let call: String
        /// The system's number for the error.
        public let code: Int32
    }

    private let descriptor: Int32
    /// What came and was not taken yet.
    public private(set) var received: [UInt8] = []
    /// How the last read ended: 0 for an orderly end, else the error's number.
    public private(set) var ending: Int32?

    /// Connects.
    ///
    /// - Parameters:
    ///   - port: The server's port at 127.0.0.1.
    ///   - source: The address of 127.0.0.0/8 that it comes from; nil for the usual one, 127.0.0.1.
    /// - Throws: `Failure`: the address is not to be had, or the server takes no connection.
    public init(port: Int, from source: String? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: Int(farDeadline.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if let source {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = inet_addr(source)
            let bound = withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard bound == 0 else {
                let code = errno
                close(descriptor)
                throw Failure(call: "bind", code: code)
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = (UInt16(exactly: port) ?? 0).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            let code = errno
            close(descriptor)
            throw Failure(call: "connect", code: code)
        }
    }

    deinit { close(descriptor) }

    /// Sends a text.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes.
    public func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Reads one answer by its length; less when the connection ends before.
    ///
    /// - Parameter toHEAD: Whether it answers HEAD: no body comes then, whatever length the head says.
    /// - Returns: Its parts; the status is 0 when no answer came.
    public func answer(toHEAD: Bool = false) -> (status: Int, head: String, body: [UInt8]) {
        var end: Int?
        while end == nil {
            end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
            if end == nil, !read() { break }
        }
        let head = String(decoding: received[..<(end ?? received.count)], as: UTF8.self)
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let declared =
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { UInt32($0.split(separator: " ").dropFirst().first ?? "") }.map { Int($0) } ?? 0
        let length = toHEAD ? 0 : declared
        while received.count < (end ?? 0) + length, read() {}
        let total = min(received.count, (end ?? 0) + length)
        let body = Array(received[(end ?? received.count)..<max(end ?? received.count, total)])
        received.removeFirst(total)
        return (status, head, body)
    }

    /// Reads the next chunk of a body (RFC 9112, 7.1).
    ///
    /// - Returns: Its bytes, none for the last one; nil where the connection ends before it.
    public func chunk() -> [UInt8]? {
        var start: Int?
        while start == nil {
            start = received.firstRange(of: Array("\r\n".utf8))?.upperBound
            if start == nil, !read() { return nil }
        }
        guard let start, let count = Int(String(decoding: received[..<(start - 2)], as: UTF8.self), radix: 16) else { return nil }
        while received.count < start + count + 2 { guard read() else { return nil } }
        defer { received.removeFirst(start + count + 2) }
        return Array(received[start..<(start + count)])
    }

    /// Reads chunks until the last one.
    ///
    /// - Returns: Their bytes together, and whether the last one came before the connection ended.
    public func chunks() -> (bytes: [UInt8], isComplete: Bool) {
        var bytes: [UInt8] = []
        while let chunk = chunk() {
            guard !chunk.isEmpty else { return (bytes, true) }
            bytes += chunk
        }
        return (bytes, false)
    }

    /// Whether something has come that was not read yet. Waits for nothing.
    public var hasSomethingToRead: Bool {
        var byte: UInt8 = 0
        return !received.isEmpty || recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Whether the connection has ended and nothing is left to read. Waits for nothing, and takes nothing.
    public var hasEnded: Bool {
        var byte: UInt8 = 0
        let peeked = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// Reads until the connection ends.
    public func rest() -> [UInt8] {
        while read() {}
        return received
    }

    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            ending = count == 0 ? 0 : errno
            return false
        }
        received += buffer[..<count]
        return true
    }
}
