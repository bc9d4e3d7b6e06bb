internal import Glibc

/// A system call of the event loop that the kernel refused.
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Name of the call as its manual page spells it: `epoll_create1`, `epoll_ctl`, `epoll_wait` or `eventfd`.
    public let call: String
    /// The kernel's error number (errno(3)).
    public let code: Int32

    init(call: String) {
        self.call = call
        code = errno
    }

    /// The call and the kernel's message.
    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
