import CMicroHTTPD
import Glibc
import Synchronization

/// The place where an ``AnswerStream`` leaves bytes and the connection's own thread takes them.
///
/// The connection is suspended and resumed under the lock. So once ``cut()`` has returned, no thread is inside of `MHD_resume_connection`
/// for it, and it is not suspended any more.
///
/// Lock order: a pipe's lock, then the library's.
final class StreamPipe: Sendable {
    /// The result of the library's request for bytes.
    enum Next: Equatable {
        /// The number of bytes that were read.
        case bytes(Int)
        /// None yet. The connection is suspended.
        case later
        /// None: the body is complete.
        case complete
        /// None, and the body is not complete.
        case cut
    }

    private struct Link {
        let connection: ConnectionHandle
        let socket: Int32
    }

    private enum Phase {
        /// The answer has not been sent yet.
        case unsent
        /// The library asks for bytes when it can send some.
        case running(Link)
        /// There were none. The connection is suspended.
        case suspended(Link)
        /// There is no connection any more.
        case over
    }

    private enum Ending { case complete, cut }

    private struct State {
        var queue: ByteQueue
        var phase = Phase.unsent
        /// The end behind the bytes in the queue, or nil while more bytes may come.
        var ending: Ending?
        var onEnd: (@Sendable () -> Void)?

        mutating func resume() {
            guard case .suspended(let link) = phase else { return }
            phase = .running(link)
            MHD_resume_connection(link.connection.pointer)
        }
    }

    private let state: Mutex<State>

    init(capacity: Int, onEnd: @escaping @Sendable () -> Void) {
        state = Mutex(State(queue: ByteQueue(capacity: max(0, capacity)), onEnd: onEnd))
    }

    var isOpen: Bool { state.withLock { $0.ending == nil } }

    var pendingByteCount: Int { state.withLock { $0.queue.count } }

    // MARK: The writer

    /// Takes the next bytes. If there is no room, the reader was too slow, and is ended.
    func write(_ bytes: [UInt8]) -> Bool {
        state.withLock { state -> Bool in
            guard state.ending == nil else { return false }
            guard state.queue.append(bytes) else {
                state.ending = .cut
                state.queue.removeAll()
                // Before the library closes the socket, it lets go of the reader (``close()``). Its thread notices the shutdown.
                if case .running(let link) = state.phase { _ = shutdown(link.socket, Int32(SHUT_RDWR)) }
                state.resume()
                return false
            }
            if !bytes.isEmpty { state.resume() }
            return true
        }
    }

    /// Nothing more is written.
    func end() { finish(.complete) }

    /// Nothing more is taken. What has been taken still goes, and the connection ends then.
    func cut() { finish(.cut) }

    private func finish(_ ending: Ending) {
        state.withLock { state in
            guard state.ending == nil else { return }
            state.ending = ending
            state.resume()
        }
    }

    // MARK: The connection's thread

    /// Takes a connection, once.
    func open(_ connection: ConnectionHandle, socket: Int32) -> Bool {
        state.withLock { state -> Bool in
            guard case .unsent = state.phase else { return false }
            state.phase = .running(Link(connection: connection, socket: socket))
            return true
        }
    }

    /// Moves bytes into `room`. Suspends the connection if there are none yet.
    func read(into room: UnsafeMutableRawBufferPointer) -> Next {
        state.withLock { state -> Next in
            let count = state.queue.read(into: room)
            guard count == 0 else { return .bytes(count) }
            switch state.ending {
            case .complete: return .complete
            case .cut: return .cut
            case nil:
                guard case .running(let link) = state.phase else { return .cut }
                MHD_suspend_connection(link.connection.pointer)
                state.phase = .suspended(link)
                return .later
            }
        }
    }

    /// Has no connection any more.
    func close() {
        let onEnd = state.withLock { state -> (@Sendable () -> Void)? in
            state.phase = .over
            state.ending = state.ending ?? .cut
            state.queue.removeAll()
            return state.onEnd.take()
        }
        onEnd?()
    }

    /// Gets no connection any more, where it has had none.
    func closeUnsent() {
        let isUnsent = state.withLock { state -> Bool in
            if case .unsent = state.phase { true } else { false }
        }
        if isUnsent { close() }
    }
}
