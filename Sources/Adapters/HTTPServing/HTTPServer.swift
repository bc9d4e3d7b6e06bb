import CMicroHTTPD
import Glibc
import Synchronization

/// A small HTTP/1.1 server: one handler, a pool of threads, strict reading, bounded everything.
///
/// Every request is given to the handler whole, unless it was answered at its head (``HTTPServerConfiguration/admission``). The handler
/// runs on a server thread and should not block. Where the answer has to be waited for, the handler takes a ``Responder`` and
/// returns. HTTP is libmicrohttpd's in its strict mode. On top of that, requests that another server could
/// read differently are refused with 400, and their connection ends: two lengths or hosts, a length and a transfer coding, a coding
/// other than `chunked`, a NUL or another control character, a line that ends in a bare line feed, and a folded field.
public final class HTTPServer: Sendable {
    /// The address at which a server listens.
    public struct Address: Sendable, Equatable, CustomStringConvertible {
        /// The numeric host, with IPv6 in brackets.
        public let host: String
        /// The port, never 0.
        public let port: Int

        /// `host:port`.
        public var description: String { "\(host):\(port)" }
    }

    /// The library's handle.
    ///
    /// `@unchecked Sendable`: the pointer is used only while `state` is locked, and struct MHD_Daemon is thread-safe for the two
    /// calls made with it, MHD_quiesce_daemon and MHD_stop_daemon (microhttpd.h).
    private struct Daemon: @unchecked Sendable {
        let pointer: OpaquePointer
        let socket: ListenSocket
        /// C strings that the library reads for as long as it runs.
        let texts: [UnsafeMutablePointer<CChar>]
    }

    private enum State {
        case idle
        case running(Daemon, Address)
        case stopped
    }

    private let configuration: HTTPServerConfiguration
    private let core: ServerCore
    /// Protects the server's life. Held while starting and stopping, never by callbacks.
    private let state = Mutex(State.idle)

    /// Makes a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - configuration: Address, limits and identity.
    ///   - handler: Called once for every complete request, on a server thread, by several at a time.
    public init(
        _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        handler: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse
    ) {
        self.configuration = configuration
        core = ServerCore(configuration, handler: .direct(handler))
    }

    /// Makes a server that does not listen yet, and whose answers may come later.
    ///
    /// - Parameters:
    ///   - configuration: Address, limits and identity.
    ///   - handler: Called once for every complete request, on a server thread, by several at a time. The answer is what its
    ///     responder is given, before the handler returns or later.
    public init(
        _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        handler: @escaping @Sendable (HTTPServerRequest, Responder) -> Void
    ) {
        self.configuration = configuration
        core = ServerCore(configuration, handler: .deferred(handler))
    }

    deinit { stop(within: .zero) }

    /// The bound address while the server runs.
    public var address: Address? {
        state.withLock { state in
            if case .running(_, let address) = state { address } else { nil }
        }
    }

    /// Requests whose handler got a ``Responder`` and whose answers have not left yet.
    public var waitingCount: Int { core.waitingCount.load(ordering: .relaxed) }

    /// Binds the address and serves.
    ///
    /// - Returns: The bound address, with the real port in place of 0.
    /// - Throws: An ``HTTPServingError``. The server can then be thrown away, because nothing is left open.
    @discardableResult
    public func start() throws(HTTPServingError) -> Address {
        try state.withLock { state throws(HTTPServingError) in
            guard case .idle = state else { throw .notStartable }
            let socket = try ListenSocket(configuration.listen)
            let address = Address(host: socket.host, port: socket.port)
            guard core.timer.start() else {
                close(socket.descriptor)
                throw .cannotServe(reason: "no thread left")
            }
            guard let daemon = startDaemon(on: socket) else {
                core.timer.stop()
                // The library has closed the socket (MHD_start_daemon_va, `free_and_fail`). Closing it here once more would close what
                // another thread has opened under the same number since.
                state = .stopped
                let reason =
                    configuration.identity == nil ? "the HTTP library refused" : "the certificate or its key is not usable"
                throw .cannotServe(reason: reason)
            }
            state = .running(daemon, address)
            return address
        }
    }

    /// Stops: requests in progress are waited for, then no connection begins any more, then every one ends.
    ///
    /// Whatever request begins meanwhile is answered 503 (``HTTPServerConfiguration/refusal``), and so is everybody who has connected until
    /// the end: also who has sent no whole request, unless the connection is encrypted, or waits for a further request. Bodies that are
    /// still being written (``AnswerStream``) end at once, behind the written bytes. Requests whose ``Responder`` has not answered within
    /// `limit` are answered 503. Blocks for at most `limit` and as long as `settle` does, and then for at most 5 s until those answers are
    /// sent. A second call does nothing.
    ///
    /// - Parameters:
    ///   - limit: The longest wait for answers. Default 5 s.
    ///   - settle: Called once where the server was running, after the wait and before the rest is answered 503: the last time to
    ///     give other answers. It must not start or stop the server.
    public func stop(within limit: Duration = .seconds(5), settling settle: () -> Void = {}) {
        state.withLock { state in
            if case .running(let daemon, _) = state { shutDown(daemon, within: limit, settling: settle) }
            state = .stopped
        }
    }

    private func shutDown(_ daemon: Daemon, within limit: Duration, settling settle: () -> Void) {
        core.isDraining.store(true, ordering: .relaxed)
        core.streams.close()
        let deadline = ContinuousClock.now + limit
        while core.activeCount.load(ordering: .acquiring) > 0, ContinuousClock.now < deadline { usleep(2000) }
        settle()
        // The library aborts the process when it is stopped while connections are suspended. So all of them are resumed first.
        // Later requests are answered unsuspended, and the timer resumes at once whatever it gets.
        core.suspended.close(with: configuration.refusal(503))
        core.timer.stop()
        let lastDeadline = ContinuousClock.now + .seconds(5)
        takeLast(daemon.socket)
        let isQuiesced = MHD_quiesce_daemon(daemon.pointer) >= 0
        daemon.socket.stopListening()
        sendLast(until: lastDeadline)
        MHD_stop_daemon(daemon.pointer)
        if isQuiesced { close(daemon.socket.descriptor) }
        for text in daemon.texts { free(text) }
    }

    /// Lets no connection begin any more, and waits, for 1 s at most, until whoever has connected has sent a request.
    private func takeLast(_ socket: ListenSocket) {
        socket.refuseMore()
        let deadline = ContinuousClock.now + .seconds(1)
        // Over after a pause in which handshakes can end, and a connection that a thread has just accepted is seen.
        var calmCount = 0
        while calmCount < 10, ContinuousClock.now < deadline {
            calmCount = socket.hasWaiting || core.connections.hasAny(.open) ? 0 : calmCount + 1
            usleep(2000)
        }
    }

    /// Answers those whose request is not there yet, and waits until every answer has gone. Of those who were answered before their
    /// request came, that is seen when they end their connection, for which they have 1 s.
    private func sendLast(until deadline: ContinuousClock.Instant) {
        // Only the library can encrypt.
        if !core.isSecure { core.connections.declineOpen(with: configuration.refusal(503).bytesOnTheWire()) }
        let readingEnd = min(deadline, .now + .seconds(1))
        while ContinuousClock.now < deadline {
            let mustRead = ContinuousClock.now < readingEnd && core.connections.hasAny(.declined)
            guard mustRead || core.connections.hasAny(.answering) else { return }
            usleep(2000)
        }
    }

    private func startDaemon(on socket: ListenSocket) -> Daemon? {
        // Not epoll: with exactly 128 connections ready at once, as many as it asks for, libmicrohttpd (seen with 0.9.75) waits for
        // the next event before it serves any of them, and where all clients wait for their answers none comes.
        var flags = MHD_USE_POLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue
        if socket.isIPv6 { flags |= MHD_USE_IPv6.rawValue }
        if configuration.identity != nil { flags |= MHD_USE_TLS.rawValue }
        let texts = [configuration.identity?.privateKey, configuration.identity?.certificateChain].compactMap { $0 }
            .compactMap { strdup($0) }
        var options = self.options(listenDescriptor: socket.descriptor, texts: texts)
        let context = Unmanaged.passUnretained(core).toOpaque()
        guard let pointer = pushfan_mhd_start(flags, peerArrived, requestAdvanced, context, &options) else {
            for text in texts { free(text) }
            return nil
        }
        return Daemon(pointer: pointer, socket: socket, texts: texts)
    }

    private func options(listenDescriptor: Int32, texts: [UnsafeMutablePointer<CChar>]) -> [MHD_OptionItem] {
        let context = Unmanaged.passUnretained(core).toOpaque()
        func option(_ option: MHD_OPTION, value: Int, pointer: UnsafeMutableRawPointer? = nil) -> MHD_OptionItem {
            MHD_OptionItem(option: option, value: value, ptr_value: pointer)
        }
        let started:
            @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? =
                requestStarted
        let ended: MHD_RequestCompletedCallback = requestEnded
        let changed: MHD_NotifyConnectionCallback = connectionChanged
        let unescape: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int =
            leaveEscaped
        var options = [
            option(.LISTEN_SOCKET, value: Int(listenDescriptor)),
            option(.URI_LOG_CALLBACK, value: unsafeBitCast(started, to: Int.self), pointer: context),
            option(.NOTIFY_COMPLETED, value: unsafeBitCast(ended, to: Int.self), pointer: context),
            option(.NOTIFY_CONNECTION, value: unsafeBitCast(changed, to: Int.self), pointer: context),
            option(.UNESCAPE_CALLBACK, value: unsafeBitCast(unescape, to: Int.self), pointer: context),
            option(.STRICT_FOR_CLIENT, value: 1),
            option(.CONNECTION_LIMIT, value: configuration.connectionLimit),
            option(.PER_IP_CONNECTION_LIMIT, value: max(0, configuration.maximumConnectionsPerPeer)),
            option(.CONNECTION_TIMEOUT, value: Int(configuration.idleTimeout.components.seconds)),
            // One pool holds a connection's header fields and its buffers. It is cleared before every request, so that room costs
            // time.
            option(.CONNECTION_MEMORY_LIMIT, value: configuration.maximumHeaderByteCount + (12 << 10)),
        ]
        if configuration.threadCount > 1 { options.append(option(.THREAD_POOL_SIZE, value: min(64, configuration.threadCount))) }
        if texts.count == 2 {
            options.append(option(.HTTPS_MEM_KEY, value: 0, pointer: texts[0]))
            options.append(option(.HTTPS_MEM_CERT, value: 0, pointer: texts[1]))
        }
        options.append(option(.END, value: 0))
        return options
    }
}
