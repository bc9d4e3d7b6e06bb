import Basics
import CMicroHTTPD
import Glibc

/// A bound, listening, non-blocking TCP socket.
struct ListenSocket {
    let descriptor: Int32
    let isIPv6: Bool
    /// Host and port as bound: the port is the real one in place of 0.
    let host: String
    let port: Int

    /// Binds `host:port` or `[ipv6]:port`, and listens. The reason in `cannotListen` names the process that listens there already
    /// where it can be seen.
    init(_ address: String) throws(HTTPServingError) {
        guard let (name, service) = Self.split(address) else { throw .badListenAddress(address) }
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name.isEmpty ? nil : name, service, &hints, &list) == 0, let first = list else {
            throw .badListenAddress(address)
        }
        defer { freeaddrinfo(list) }
        isIPv6 = first.pointee.ai_family == AF_INET6
        let opened = Self.open(first.pointee)
        guard opened >= 0 else { throw .cannotListen(address: address, reason: Self.reason(errno, at: first.pointee)) }
        descriptor = opened
        (host, port) = Self.boundName(opened)
    }

    /// True if a connection waits to be accepted.
    var hasWaiting: Bool {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, 0) > 0
    }

    /// Lets no further connection begin. Those that have begun can still be accepted.
    func refuseMore() { _ = pushfan_refuse_handshakes(descriptor) }

    /// Listens no more: whoever connects is refused, and the address is free.
    func stopListening() { _ = shutdown(descriptor, Int32(SHUT_RD)) }

    /// "127.0.0.1:0" as host and port, without brackets around IPv6.
    static func split(_ address: String) -> (host: String, port: String)? {
        guard let colon = address.lastIndex(of: ":") else { return nil }
        var host = address[..<colon]
        let port = address[address.index(after: colon)...]
        guard let number = UInt16(port), String(number) == port else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        return (String(host), String(port))
    }

    private static func open(_ info: addrinfo) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(info.ai_family, kind, info.ai_protocol)
        guard descriptor >= 0 else { return -1 }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0, Glibc.listen(descriptor, 1024) == 0 else {
            let reason = errno
            close(descriptor)
            errno = reason
            return -1
        }
        return descriptor
    }

    private static func reason(_ code: Int32, at info: addrinfo) -> String {
        let text = String(cString: strerror(code))
        guard code == EADDRINUSE, let address = info.ai_addr, let owner = PortOwner.of(address) else { return text }
        return "\(text) by \(owner)"
    }

    private static func boundName(_ descriptor: Int32) -> (String, Int) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getsockname(descriptor, address, &length) == 0 else { return ("", 0) }
                return PeerName.read(address)
            }
        }
    }
}

/// The text of a socket address.
enum PeerName {
    /// The numeric host and port of an IPv4 or IPv6 address, or ("", 0) for any other.
    static func read(_ address: UnsafePointer<sockaddr>) -> (host: String, port: Int) {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                var host = pointer.pointee.sin_addr
                inet_ntop(AF_INET, &host, &text, socklen_t(text.count))
                return (decoded(text), Int(pointer.pointee.sin_port.byteSwapped))
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                var host = pointer.pointee.sin6_addr
                inet_ntop(AF_INET6, &host, &text, socklen_t(text.count))
                return ("[" + decoded(text) + "]", Int(pointer.pointee.sin6_port.byteSwapped))
            }
        default:
            return ("", 0)
        }
    }

    /// The address of a host, as ``read(_:)`` writes it.
    static func address(of host: String) -> NumericAddress? {
        NumericAddress(host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...])
    }

    /// True for the hosts, as ``read(_:)`` writes them, of this machine's own connections, unless they choose another address of
    /// 127.0.0.0/8.
    static func isLocal(_ host: String) -> Bool { ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"].contains(host) }

    private static func decoded(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
