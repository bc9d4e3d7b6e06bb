import Glibc
import Synchronization

/// By when the peer of each connection must have sent a whole request or taken a whole answer. A connection that is late is ended,
/// however often a byte has come or gone: libmicrohttpd knows only a limit for silence.
///
/// A socket is shut down under the same lock under which it is taken out before the library closes it (``leave(_:)``). So its number
/// cannot be that of another one by then.
final class ConnectionDeadlines: Sendable {
    private struct State {
        /// By socket, as `DelayTimer.now()`. Not those whose client waits for us.
        var moments: [Int32: UInt64] = [:]
        /// The sockets of this machine's own connections, but for those that were ended.
        var local: Set<Int32> = []
        /// Whether the timer is going to look.
        var isWatched = false
    }

    private let timer: DelayTimer
    /// Nanoseconds for a request, and for an answer.
    private let requestLimit: UInt64
    /// Nanoseconds from an answer to the next request's first line; 0 for any time.
    private let idleLimit: UInt64
    /// Nanoseconds between two looks.
    private let interval: UInt64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - request: How long a request may take, and an answer.
    ///   - idle: How long nothing may come between two requests; 0 for any time.
    ///   - timer: Looks when a connection is late.
    init(request: Duration, idle: Duration, _ timer: DelayTimer) {
        self.timer = timer
        requestLimit = request.nanoseconds
        idleLimit = idle.nanoseconds
        let shortest = idleLimit == 0 ? requestLimit : min(requestLimit, idleLimit)
        interval = max(1_000_000, shortest / 8)
    }

    /// A connection has come, and its first request begins to come.
    func enter(_ socket: Int32, isLocal: Bool) {
        if isLocal { state.withLock { _ = $0.local.insert(socket) } }
        begin(socket)
    }

    /// The connection has ended. Called before the library closes the socket.
    func leave(_ socket: Int32) {
        state.withLock { state in
            state.moments[socket] = nil
            state.local.remove(socket)
        }
    }

    /// A request begins to come, or an answer to go.
    func begin(_ socket: Int32) { set(requestLimit, for: socket) }

    /// The answer has gone; the next request may come.
    func beginIdle(_ socket: Int32) {
        if idleLimit == 0 { end(socket) } else { set(idleLimit, for: socket) }
    }

    /// The client waits for us.
    func end(_ socket: Int32) { state.withLock { $0.moments[socket] = nil } }

    /// Makes room for one more connection of this machine: where they have all their places, the one of them is ended that would be
    /// late first. So whoever sends at once is answered, however many slow ones came before.
    ///
    /// - Parameter maximum: How many there may be.
    /// - Returns: Whether there is room; not if they have all places and each of them waits for us.
    func makeRoom(within maximum: Int) -> Bool {
        state.withLock { state -> Bool in
            guard state.local.count >= maximum else { return true }
            let (moments, local) = (state.moments, state.local)
            let slow = moments.filter { local.contains($0.key) }
            guard let first = slow.min(by: { $0.value < $1.value })?.key else { return false }
            Self.end(first, in: &state)
            return true
        }
    }

    /// Ends a connection. Its own thread reads the end then, and closes it.
    private static func end(_ socket: Int32, in state: inout State) {
        _ = shutdown(socket, Int32(SHUT_RDWR))
        state.moments[socket] = nil
        state.local.remove(socket)
    }

    /// Ends the connections that are late. Called by the timer.
    ///
    /// - Returns: Whether it should be called again: others are left.
    func endLate() -> Bool {
        state.withLock { state -> Bool in
            let now = DelayTimer.now()
            for (socket, _) in state.moments.filter({ $0.value <= now }) { Self.end(socket, in: &state) }
            state.isWatched = !state.moments.isEmpty
            return state.isWatched
        }
    }

    private func set(_ limit: UInt64, for socket: Int32) {
        let isFirst = state.withLock { state -> Bool in
            state.moments[socket] = DelayTimer.now() &+ limit
            let isFirst = !state.isWatched
            state.isWatched = true
            return isFirst
        }
        if isFirst { timer.look(after: self, every: interval) }
    }
}
