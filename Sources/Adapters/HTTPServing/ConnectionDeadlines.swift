import Basics
import Glibc
import Synchronization

/// The deadlines by which the peer of each connection must have sent a whole request or taken a whole answer, and the order in
/// which connections make room. A late connection is ended, however often a byte has come or gone: libmicrohttpd knows only a
/// limit for silence.
///
/// A socket is shut down under the same lock under which it is taken out before the library closes it (``leave(_:)``). So its number
/// cannot be that of another one by then.
final class ConnectionDeadlines: Sendable {
    private struct State {
        var others: ConnectionPlaces
        /// The places of this machine's own connections, where they have some.
        var local: ConnectionPlaces?
        /// The sockets of those.
        var locals: Set<Int32> = []
        /// True while the timer checks the deadlines.
        var isWatched = false

        mutating func change<Result>(_ isLocal: Bool, by change: (inout ConnectionPlaces) -> Result) -> Result {
            guard isLocal, var changed = local.take() else { return change(&others) }
            defer { local = changed }
            return change(&changed)
        }
    }

    private let timer: DelayTimer
    /// The answer to a request whose body did not end in time, as it is on the wire.
    private let lateAnswer: @Sendable () -> [UInt8]
    /// Nanoseconds between two checks.
    private let interval: UInt64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - configuration: The places, and how long nothing may come between two requests.
    ///   - request: The time limit of a request, and of an answer.
    ///   - timer: Looks when a connection is late.
    init(_ configuration: HTTPServerConfiguration, request: Duration, timer: DelayTimer) {
        self.timer = timer
        let refusal = configuration.refusal
        lateAnswer = { refusal(400).bytesOnTheWire() }
        let (requestLimit, idleLimit) = (
            UInt64(clamping: request.wholeNanoseconds), UInt64(clamping: configuration.idleTimeout.wholeNanoseconds)
        )
        let shortest = idleLimit == 0 ? requestLimit : min(requestLimit, idleLimit)
        interval = max(1_000_000, shortest / 8)
        func places(_ maximum: Int) -> ConnectionPlaces {
            ConnectionPlaces(maximum: maximum, request: requestLimit, idle: idleLimit)
        }
        let reserved = configuration.reservedForLoopback
        state = Mutex(
            State(others: places(max(1, configuration.maximumConnections)), local: reserved > 0 ? places(reserved) : nil))
    }

    /// A connection has come from a host, and its first request begins to come.
    func enter(_ socket: Int32, from host: String) {
        let address = PeerName.address(of: host)
        watch { state in
            if PeerName.isLocal(host), state.local != nil { state.locals.insert(socket) }
            state.change(state.locals.contains(socket)) { $0.enter(socket, from: address, at: DelayTimer.now()) }
        }
    }

    /// The connection has ended. Called before the library closes the socket.
    func leave(_ socket: Int32) {
        state.withLock { state in
            state.change(state.locals.remove(socket) != nil) { $0.leave(socket) }
        }
    }

    /// A request begins to come, or an answer to go.
    func begin(_ socket: Int32) { change(socket) { $0.begin(socket, at: DelayTimer.now()) } }

    /// The whole head of a request has come.
    func speak(_ socket: Int32) { change(socket) { $0.speak(socket) } }

    /// The request was answered before its body came, which is only read past.
    func decline(_ socket: Int32) { change(socket) { $0.decline(socket) } }

    /// Notes that the answer was sent and the next request may come.
    func beginIdle(_ socket: Int32) { change(socket) { $0.rest(socket, at: DelayTimer.now()) } }

    /// A body was announced, and nothing of an answer has gone.
    func awaitBody(_ socket: Int32) { change(socket) { $0.awaitBody(socket) } }

    /// The client waits for us. False if it was ended before.
    @discardableResult
    func end(_ socket: Int32) -> Bool { change(socket) { $0.work(socket) } }

    /// Makes room for one more connection from a host, if it can, for which another one may be ended
    /// (``ConnectionPlaces/makeRoom(for:at:)``). So a client that sends at once is answered, however many slow ones came before.
    func makeRoom(for host: String) -> Bool {
        let address = PeerName.address(of: host)
        return state.withLock { state -> Bool in
            switch state.change(PeerName.isLocal(host), by: { $0.makeRoom(for: address, at: DelayTimer.now()) }) {
            case .free: return true
            case .none: return false
            case .inPlaceOf(let socket):
                Self.end(socket)
                return true
            }
        }
    }

    /// Ends a connection. Its own thread reads the end then, and closes it.
    private static func end(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    /// Ends a late connection, with an answer if its request has come but for the end of the body.
    private func end(_ late: ConnectionPlaces.Late) {
        if late.awaitsBody {
            let bytes = lateAnswer()
            _ = bytes.withUnsafeBytes { send(late.socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) }
        }
        Self.end(late.socket)
    }

    /// Ends the connections that are late. Called by the timer, again if others are left.
    func endLate() -> Bool {
        state.withLock { state -> Bool in
            let now = DelayTimer.now()
            state.isWatched = false
            for isLocal in state.local == nil ? [false] : [false, true] {
                let canBeLate = state.change(isLocal) { places in
                    while let late = places.removeLate(at: now) { end(late) }
                    return places.canBeLate
                }
                if canBeLate { state.isWatched = true }
            }
            return state.isWatched
        }
    }

    private func change<Result>(_ socket: Int32, by change: (inout ConnectionPlaces) -> Result) -> Result {
        watch { state in state.change(state.locals.contains(socket), by: change) }
    }

    /// Starts the timer's checks if something can be late after the change.
    private func watch<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, isFirst) = state.withLock { state -> (Result, Bool) in
            let result = change(&state)
            guard !state.isWatched, state.others.canBeLate || state.local?.canBeLate == true else { return (result, false) }
            state.isWatched = true
            return (result, true)
        }
        if isFirst { timer.check(self, every: interval) }
        return result
    }
}
