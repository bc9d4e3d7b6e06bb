import Glibc
import Synchronization

/// One connection: its peer's name, the number of its requests, and who answers the one that comes.
///
/// Beside the thread of the connection the server's stop may answer it, if it comes first.
final class ConnectionState: Sendable {
    enum Phase {
        /// The first request is awaited, or one is on its way.
        case open
        /// The thread of the connection answers.
        case answering
        /// The answer was written past the library, and all that still comes is discarded.
        case declined
        /// The next request may come.
        case idle
        /// There is no socket any more.
        case closed
    }

    let remoteAddress: String
    private let socket: Int32
    private let life = Mutex<(phase: Phase, requestCount: Int)>((.open, 0))

    init(socket: Int32, remoteAddress: String) {
        self.socket = socket
        self.remoteAddress = remoteAddress
    }

    var phase: Phase { life.withLock { $0.phase } }

    /// Begins a request, and returns its number.
    func begin() -> Int {
        life.withLock { life -> Int in
            if life.phase == .idle { life.phase = .open }
            life.requestCount += 1
            return life.requestCount
        }
    }

    /// Takes the answer over for the thread of the connection. False if there is one already.
    func claim() -> Bool {
        life.withLock { life -> Bool in
            guard life.phase != .declined else { return false }
            life.phase = .answering
            return true
        }
    }

    /// Writes an answer past the library, which would not read the body then: a connection that is closed with unread bytes is reset, and
    /// the client may lose its answer. The library's own 100 (Continue) fails behind it. False if another answer is on its way, or this
    /// one finds no room.
    @discardableResult
    func decline(with bytes: [UInt8]) -> Bool {
        life.withLock { life -> Bool in
            guard life.phase == .open else { return life.phase == .declined }
            let sent = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            guard sent == bytes.count else { return false }
            _ = shutdown(socket, Int32(SHUT_WR))
            life.phase = .declined
            return true
        }
    }

    /// Notes the end of a request, answered or aborted.
    func rest() { life.withLock { life in if life.phase != .declined { life.phase = .idle } } }

    /// Lets go of the socket. Called before the library closes it.
    func close() { life.withLock { $0.phase = .closed } }
}

/// The connections that are open, so that stopping reaches them all.
final class OpenConnections: Sendable {
    private let states = Mutex<[ObjectIdentifier: ConnectionState]>([:])

    func add(_ state: ConnectionState) { states.withLock { $0[ObjectIdentifier(state)] = state } }

    func remove(_ state: ConnectionState) {
        state.close()
        _ = states.withLock { $0.removeValue(forKey: ObjectIdentifier(state)) }
    }

    /// True if any is in this phase.
    func hasAny(_ phase: ConnectionState.Phase) -> Bool { all.contains { $0.phase == phase } }

    /// Answers all whose request is not there yet.
    func declineOpen(with bytes: [UInt8]) { for state in all { state.decline(with: bytes) } }

    private var all: [ConnectionState] { states.withLock { Array($0.values) } }
}
