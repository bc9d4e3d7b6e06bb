internal import CLinux
internal import Glibc

/// Wakes a loop that waits in a `Poller`: a counter of the kernel (eventfd(2)) that is readable once signalled.
///
/// Any thread may signal, and so may a C library that was given the descriptor and writes eight bytes to it
/// (`rd_kafka_queue_io_event_enable`). Signals that come before the drain count as one.
public final class WakeUp: Sendable {
    /// The descriptor to watch for reading, which is closed with this object.
    public let fileDescriptor: Int32

    /// Creates an unsignalled, non-blocking counter that child processes do not inherit. Throws when the process has no
    /// descriptor left.
    public init() throws(SystemCallError) {
        fileDescriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard fileDescriptor >= 0 else { throw SystemCallError(call: "eventfd") }
    }

    deinit {
        _ = Glibc.close(fileDescriptor)
    }

    /// Makes the descriptor readable, and never blocks (a full counter is readable already).
    public func signal() {
        var one: UInt64 = 1
        _ = write(fileDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes all signals so far. Returns whether there was any.
    @discardableResult
    public func drain() -> Bool {
        var count: UInt64 = 0
        return read(fileDescriptor, &count, MemoryLayout<UInt64>.size) == MemoryLayout<UInt64>.size
    }
}
