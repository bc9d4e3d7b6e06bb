internal import CLinux
internal import Glibc

/// Carries numbers from any thread to the loop that waits in a `Poller`: a pipe of the kernel (pipe(7)) that is readable while it has some.
///
/// A C library that was given the descriptor writes four bytes to it, a number as this machine has it (`rd_kafka_queue_io_event_enable`). So
/// the loop hears which of many queues has something. The pipe mostly has room for 16,384 numbers, and what comes while it is full is lost.
/// `drain` says so.
public final class NumberPipe: Sendable {
    /// The bytes that a pipe of Linux holds by default. Of a user who has many pipes it holds fewer (pipe(7), pipe-user-pages-soft).
    private static let byteCount = 65_536
    private static let leastByteCount = 4096

    /// The descriptor to watch for reading, which is closed with this object.
    public let fileDescriptor: Int32
    /// The descriptor that a number is written to. A write never blocks.
    public let writeDescriptor: Int32

    /// Creates an empty pipe that child processes do not inherit. Throws when the process has no descriptor left.
    public init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { throw SystemCallError(call: "pipe2") }
        (fileDescriptor, writeDescriptor) = (ends[0], ends[1])
    }

    deinit {
        _ = Glibc.close(fileDescriptor)
        _ = Glibc.close(writeDescriptor)
    }

    /// Adds a number. Returns false when the pipe is full.
    @discardableResult
    public func add(_ number: UInt32) -> Bool {
        var number = number
        return write(writeDescriptor, &number, MemoryLayout<UInt32>.size) == MemoryLayout<UInt32>.size
    }

    /// Takes the numbers that are there, in the order in which they came, each as often as it came.
    ///
    /// - Parameter body: Gets each number.
    /// - Returns: Whether that is all. Else the pipe was full, and numbers may be missing.
    public func drain(_ body: (UInt32) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: MemoryLayout<UInt32>.alignment) { buffer in
            let count = read(fileDescriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return true }
            for number in UnsafeRawBufferPointer(rebasing: buffer[..<count]).bindMemory(to: UInt32.self) { body(number) }
            // One of little room may be full with a page.
            return count < Self.leastByteCount || count < min(Int(pipe_size(fileDescriptor)), buffer.count)
        }
    }
}
