internal import CCurl
internal import Glibc

/// The choice of the addresses that a connection may go to, and what became of them.
struct AddressChoice {
    private let refuses: (@Sendable ([UInt8]) -> Bool)?
    private var refused = 0
    private var taken = 0

    init(refuses: (@Sendable ([UInt8]) -> Bool)?) { self.refuses = refuses }

    /// Forgets what became of the addresses of an earlier connection.
    mutating func begin() { (refused, taken) = (0, 0) }

    /// True if there were addresses, and none that may be called.
    var areAllRefused: Bool { refused > 0 && taken == 0 }

    /// Makes the socket for an address that libcurl is about to connect to, or none for one that may not be called.
    mutating func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let refuses, let bytes = Self.bytes(of: address), !refuses(bytes) else {
            refused += 1
            return CURL_SOCKET_BAD
        }
        taken += 1
        let (family, kind) = (address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue))
        return socket(family, kind, address.pointee.protocol)
    }

    /// The 4 or 16 bytes of an IPv4 or IPv6 address. Nil for any other.
    private static func bytes(of address: UnsafeMutablePointer<curl_sockaddr>) -> [UInt8]? {
        let place: (offset: Int?, count: Int)
        switch address.pointee.family {
        case AF_INET: place = (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr), 4)
        case AF_INET6: place = (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr), 16)
        default: return nil
        }
        // libcurl has room behind its member for an address of any kind.
        guard let offset = place.offset, let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
            Int(address.pointee.addrlen) >= offset + place.count
        else { return nil }
        return Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + start + offset, count: place.count))
    }
}
