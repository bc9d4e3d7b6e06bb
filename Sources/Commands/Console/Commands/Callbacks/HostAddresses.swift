import Glibc

/// The addresses of a host's name, as the system's resolver gives them.
struct HostAddresses {
    /// One address.
    struct Address {
        /// Its numbers, as a person writes them.
        let text: String
        /// Its 4 or 16 bytes, the most significant first.
        let bytes: [UInt8]
    }

    /// All of them, in the resolver's order, each once.
    let all: [Address]
    /// The reason for which there is none, in the system's words.
    let problem: String?

    /// Asks the resolver, which waits as the system is set.
    init(of host: String) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else {
            (all, problem) = ([], String(cString: gai_strerror(code)))
            return
        }
        var found: [Address] = []
        var next = list
        while let info = next?.pointee {
            next = info.ai_next
            guard let address = Self.address(info), !found.contains(where: { $0.bytes == address.bytes }) else { continue }
            found.append(address)
        }
        (all, problem) = (found, found.isEmpty ? "it has no address" : nil)
    }

    private static func address(_ info: addrinfo) -> Address? {
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard let place = UnsafeRawPointer(info.ai_addr) else { return nil }
        switch info.ai_family {
        case AF_INET where info.ai_addrlen >= socklen_t(MemoryLayout<sockaddr_in>.size):
            var address = place.loadUnaligned(as: sockaddr_in.self).sin_addr
            guard inet_ntop(AF_INET, &address, &name, socklen_t(name.count)) != nil else { return nil }
            return Address(text: text(name), bytes: withUnsafeBytes(of: address) { Array($0) })
        case AF_INET6 where info.ai_addrlen >= socklen_t(MemoryLayout<sockaddr_in6>.size):
            var address = place.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            guard inet_ntop(AF_INET6, &address, &name, socklen_t(name.count)) != nil else { return nil }
            return Address(text: text(name), bytes: withUnsafeBytes(of: address) { Array($0) })
        default: return nil
        }
    }

    private static func text(_ name: [CChar]) -> String {
        String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
