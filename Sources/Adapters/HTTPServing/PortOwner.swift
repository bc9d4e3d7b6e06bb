import CMicroHTTPD
import Glibc

/// A process of this machine that listens on a port, as far as the kernel shows it (proc_pid_net(5), proc_pid_fd(5)).
struct PortOwner: Equatable, CustomStringConvertible {
    let id: Int32
    /// The name of its program, at most 15 bytes.
    let name: String

    /// `'pushfan' (pid 4711)`.
    var description: String { "'\(name)' (pid \(id))" }

    /// Finds the process because of which an IPv4 or IPv6 address cannot be listened on. Nil where there is no listener any more,
    /// or this process may not see whose the socket is.
    static func of(_ address: UnsafePointer<sockaddr>) -> PortOwner? {
        let host = hexadecimal(address)
        let port = PeerName.read(address).port
        let sockets = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap { path in
            // The kernel writes the sockets that listen before all others.
            self.sockets(in: text(of: path, limit: 1 << 20), at: host, port: port)
        }
        return sockets.isEmpty ? nil : holder(of: Set(sockets.map { "socket:[\($0)]" }))
    }

    /// The numbers, as in one of the kernel's tables, of the sockets that listen where `host` (its hexadecimal digits in the
    /// table) cannot any more. The table has one line of headings.
    static func sockets(in table: String, at host: String, port: Int) -> [Substring] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 9, words[3] == "0A" else { return nil }
            let local = words[1].split(separator: ":")
            guard local.count == 2, Int(local[1], radix: 16) == port, excludes(local[0], from: host) else { return nil }
            return words[9]
        }
    }

    /// True if a listener at `taken` keeps others from its port at `host`.
    private static func excludes(_ taken: Substring, from host: String) -> Bool {
        let isEverywhere = taken.allSatisfy { $0 == "0" } || host.allSatisfy { $0 == "0" }
        return isEverywhere || taken == host || taken == "0000000000000000FFFF0000" + host
    }

    /// The address as the kernel's tables write it: its bytes as numbers of 32 bits of this machine.
    private static func hexadecimal(_ address: UnsafePointer<sockaddr>) -> String {
        let numbers: [UInt32] =
            switch Int32(address.pointee.sa_family) {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { [$0.pointee.sin_addr.s_addr] }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                        (0..<4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
                    }
                }
            default: []
            }
        return numbers.map { number in
            let digits = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    private static func holder(of sockets: Set<String>) -> PortOwner? {
        for process in names(in: "/proc") {
            guard let id = Int32(process) else { continue }
            let folder = "/proc/\(process)/fd/"
            if names(in: folder).contains(where: { sockets.contains(link(folder + $0)) }) {
                return PortOwner(id: id, name: printable(text(of: "/proc/\(process)/comm", limit: 64)))
            }
        }
        return nil
    }

    /// A program's name without what a terminal would act on.
    static func printable(_ name: String) -> String {
        String(decoding: name.utf8.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
    }

    /// The names in a folder, or none if it cannot be read.
    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    names.append(String(cString: $0))
                }
            }
        }
        return names
    }

    private static func link(_ path: String) -> String {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let count = readlink(path, start.assumingMemoryBound(to: CChar.self), buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    /// The beginning of a file, empty if it cannot be read.
    private static func text(of path: String, limit: Int) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            while bytes.count < limit {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { break }
                bytes += buffer.prefix(count)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
