internal import Glibc

/// Writing to what the process has open (write(2)).
package enum FileDescriptor {
    /// Writes all of it, in as many calls as needed. An interruption by a signal does not end it. Returns false when not all
    /// could be written, for the reason in `errno`.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
