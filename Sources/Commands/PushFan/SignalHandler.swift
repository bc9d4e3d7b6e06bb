import Console
import Dispatch
import Glibc
import Synchronization

/// Calls a closure for each SIGTERM and SIGINT, and another for SIGHUP, on a thread on which everything may be called.
///
/// A signal becomes a byte in a pipe and waits there for who reads it, so none is lost between taking the signals over and listening to
/// them. An ignored signal with a signal source, as Dispatch offers it, loses what comes in that moment: the process would never hear
/// that it must stop.
final class SignalHandler {
    /// The end of the pipe that is written to.
    private static let target = Atomic<Int32>(-1)

    private let source: any DispatchSourceRead

    /// Takes the signals over, for the rest of the process's life. `hangUp` is called for SIGHUP, once for several that come at
    /// once, or nil to leave that signal alone. `received` is called once for each of the others.
    init(
        hangUp: (@Sendable () -> Void)? = nil, received: @escaping @Sendable () -> Void
    ) throws(CommandFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.failed, "cannot listen to signals: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let reading = ends[0]
        Self.target.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGTERM, SIGINT] + (hangUp == nil ? [] : [SIGHUP]) {
            signal(number) { number in
                // Nothing but calls that a signal handler may make (signal-safety(7)).
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(SignalHandler.target.load(ordering: .sequentiallyConsistent), &byte, 1)
                errno = before
            }
        }
        source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: .global())
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = read(reading, &bytes, bytes.count)
            let signals = bytes.prefix(max(0, count))
            if signals.contains(UInt8(SIGHUP)) { hangUp?() }
            for signal in signals where signal != UInt8(SIGHUP) { received() }
        }
        source.resume()
    }

    /// Calls the closure no more.
    func cancel() { source.cancel() }
}
