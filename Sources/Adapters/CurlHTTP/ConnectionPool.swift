public import Basics
internal import CCurl
public import Crypto
public import EventLoop
public import HTTP1

/// Exchanges HTTP/1.1 requests and answers with one endpoint over a bounded number of kept-alive connections.
///
/// libcurl finds, opens and secures the connections; the exchange on an open one is ours: one send, one receive. Owned by one
/// thread, which passes it the events of its token range and its timer, and pops completions after each of these calls:
///
/// ```swift
/// pool.submit(id: 7, request: bytes, deadline: .now().advanced(by: .seconds(30)))
/// for index in try poller.wait(until: pool.nextTimer ?? .never) {
///     if pool.owns(poller[index].token) { pool.handle(poller[index]) }
/// }
/// pool.handleTimers(.now())
/// while let completion = pool.nextCompletion() { … }
/// ```
///
/// A connection is opened for a request that finds none idle, and then serves whichever request has waited longest. A failed attempt
/// fails the request that has waited longest: an endpoint that is down fails its requests one by one, at the pace of its refusals.
/// A request is sent a second time only if not one byte of it was written to the first connection. TCP proves
/// nothing about written bytes: a peer that has sent its FIN may read a request whole, and reset before its kernel has acknowledged a
/// byte. So the pool looks for the peer's end before it writes, and keeps away from the limits at which the peer closes (`PeerHabits`).
public final class ConnectionPool {
    /// The reason that a pool cannot be made.
    public enum SetupFailure: Error, Sendable, CustomStringConvertible {
        /// Settings that cannot work.
        case configuration([ConnectionPoolConfiguration.Problem])
        /// The certificates cannot be loaded.
        case certificates(CertificateStore.Failure)
        /// libcurl has no memory or descriptors.
        case libcurl

        /// The fault, for people.
        public var description: String {
            switch self {
            case .configuration(let problems): problems.map(\.description).joined(separator: "; ")
            case .certificates(let failure): failure.description
            case .libcurl: "libcurl has no memory or descriptors"
            }
        }
    }

    /// The settings.
    public let configuration: ConnectionPoolConfiguration
    /// Connections opened since the start.
    public internal(set) var connectionsOpened = 0
    /// Requests that went to another connection since the start because theirs had ended before a byte of them was written.
    public internal(set) var requestsSentAgain = 0
    /// Connections closed since the start because the peer closes those that are as old or idle without a word.
    public internal(set) var connectionsRetired = 0
    /// Connections that are open now, idle or busy.
    public internal(set) var openConnections = 0
    /// Exchanges that wait for a connection.
    public var waitingExchanges: Int { waiting.count }
    /// Exchanges that wait for a connection or have one.
    public var inFlight: Int { waiting.count + busyConnections }
    /// The moment when `handleTimers` must be called, or nil when nothing waits for time.
    public var nextTimer: MonotonicTime? {
        let next = min(connector.timer, nextSweep)
        return next == .never ? nil : next
    }

    let connector: CurlConnector
    let tokenBase: UInt64
    let idleNanoseconds: Int64
    let maximumAgeNanoseconds: Int64
    var connections: [Connection] = []
    /// Slots of closed connections.
    var vacant: [Int] = []
    /// Slots of idle connections, the last used last, which is taken first: it is the one that the peer is least likely to close now, and
    /// the surplus grows old and is closed.
    var idle: [Int] = []
    var connecting = 0
    var busyConnections = 0
    var waiting = FIFO<Exchange>()
    var completions = FIFO<Completion>()
    var spareAnswers: [Answer] = []
    var habits = PeerHabits()
    /// Not later than the first deadline, idle limit or age limit.
    var nextSweep = MonotonicTime.never
    var isClosed = false

    /// Makes a pool, and opens nothing.
    ///
    /// - Parameters:
    ///   - configuration: The endpoint and the limits.
    ///   - poller: Watches the pool's sockets; the caller waits in it.
    ///   - tokenBase: The pool uses the 2^32 tokens from here.
    ///   - certificates: A store to share with other pools instead of loading one; `caFile` is then ignored.
    /// - Throws: `SetupFailure`.
    public init(
        _ configuration: ConnectionPoolConfiguration, poller: Poller, tokenBase: UInt64, certificates: CertificateStore? = nil
    ) throws(SetupFailure) {
        let problems = configuration.validate()
        guard problems.isEmpty else { throw .configuration(problems) }
        let proxy: ProxyAddress?
        do { proxy = try configuration.proxyChoice().proxy } catch { throw .configuration([error]) }
        var store = certificates
        let usesTLS = configuration.scheme == .https || proxy?.isSecure == true
        if usesTLS, configuration.verifyPeer, store == nil {
            do { store = try CertificateStore(file: configuration.caFile) } catch { throw .certificates(error) }
        }
        guard
            let connector = CurlConnector(
                configuration, proxy: proxy, certificates: store, poller: poller, tokenBase: tokenBase)
        else { throw .libcurl }
        self.configuration = configuration
        self.connector = connector
        self.tokenBase = tokenBase
        let start = MonotonicTime(nanoseconds: 0)
        idleNanoseconds = start.advanced(by: configuration.idleTimeout).nanoseconds
        maximumAgeNanoseconds = start.advanced(by: configuration.maximumAge).nanoseconds
    }

    deinit {
        close()
    }

    /// Starts an exchange. Its completion comes from `nextCompletion`, never before this returns.
    ///
    /// - Parameters:
    ///   - id: The caller's number; comes back with the completion.
    ///   - request: Head and body, complete and valid: it is sent as it is.
    ///   - byteCount: How many bytes of `request`, from its start, are sent. Default all.
    ///   - deadline: End of waiting, connecting and exchange together.
    public func submit(id: Int, request: consuming [UInt8], byteCount: Int? = nil, deadline: MonotonicTime) {
        let byteCount = min(byteCount ?? request.count, request.count)
        let exchange = Exchange(id: id, request: request, byteCount: byteCount, deadline: deadline)
        if isClosed { return fail(exchange, because: .cancelled, text: "the pool is closed") }
        nextSweep = min(nextSweep, deadline)
        waiting.append(exchange)
        dispatch(.now())
    }

    /// True if an event's token is of this pool.
    public func owns(_ token: UInt64) -> Bool { token >= tokenBase && token - tokenBase < 1 << 32 }

    /// Goes on with the connection that an event is about for which `owns` is true. One about a connection gone by does no harm.
    public func handle(_ event: Poller.Event) {
        let descriptor = Int32(truncatingIfNeeded: event.token &- tokenBase)
        guard let slot = connector.watcher(of: descriptor) else { return }
        if slot < 0 {
            connector.socketReady(descriptor, for: event.readiness)
            collectFinished(.now())
        } else {
            connectionReady(connections[slot], for: event.readiness)
        }
        if !waiting.isEmpty { dispatch(.now()) }
    }

    /// Does what is due: libcurl's timers, deadlines, idle and age limits. Called early, it does nothing.
    public func handleTimers(_ now: MonotonicTime) {
        if connector.timer <= now {
            connector.timeElapsed()
            collectFinished(now)
        }
        if !waiting.isEmpty { dispatch(now) }
        if nextSweep <= now {
            sweep(now)
            if !waiting.isEmpty { dispatch(now) }
        }
    }

    /// True if `nextCompletion` has one.
    public var hasCompletions: Bool { !completions.isEmpty }

    /// The next exchange that has ended.
    public func nextCompletion() -> Completion? { completions.popFirst() }

    /// Takes back the memory of an answer that has been read, and of which no copy is kept. Without this each answer allocates
    /// its own.
    public func recycle(_ answer: consuming Answer) {
        guard answer.bytes.count <= 64 << 10, spareAnswers.count < configuration.maxConnections else { return }
        spareAnswers.append(answer)
    }

    /// Ends an exchange, by the caller's number, with `TransportFailure.Cause.cancelled`. Nothing happens when it has ended
    /// already.
    public func cancel(id: Int) {
        if let connection = connections.first(where: { $0.phase == .busy && $0.exchange.id == id }) {
            fail(connection, because: .cancelled, text: "cancelled by the caller")
        } else {
            for _ in 0..<waiting.count {
                guard let exchange = waiting.popFirst() else { break }
                if exchange.id == id {
                    fail(exchange, because: .cancelled, text: "cancelled by the caller")
                } else {
                    waiting.append(exchange)
                }
            }
        }
        if !waiting.isEmpty { dispatch(.now()) }
    }

    /// Cancels every exchange and closes every connection. Completions can still be popped. Later submits are cancelled at once.
    public func close() {
        isClosed = true
        while let exchange = waiting.popFirst() { fail(exchange, because: .cancelled, text: "the pool is closed") }
        for connection in connections where connection.phase != .closed {
            if connection.phase == .busy {
                fail(connection, because: .cancelled, text: "the pool is closed")
            } else {
                drop(connection)
            }
        }
        idle.removeAll()
        nextSweep = .never
    }
}
