/// The settings of one ``HTTPServer``.
public struct HTTPServerConfiguration: Sendable {
    /// A certificate chain and its private key, both as PEM text.
    public struct Identity: Sendable, CustomStringConvertible {
        /// The server's certificate first, then those that lead to its root.
        public let certificateChain: String
        /// The private key, unencrypted.
        public let privateKey: String

        /// Makes an identity of PEM texts, which are checked when the server starts.
        public init(certificateChain: String, privateKey: String) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }

        /// The kind of the value, never the key.
        public var description: String { "Identity(private key hidden)" }
    }

    /// The address to listen on: `host:port`, IPv6 in brackets. Port 0 takes a free port. Default `127.0.0.1:0`.
    public var listen: String
    /// The certificate to serve TLS with, or `nil` for plain HTTP.
    public var identity: Identity?
    /// Threads that serve connections. Default 1, range 1 to 64.
    public var threadCount = 1
    /// Connections at a time. Default 4,096. Without `requestTimeout` more wait in the backlog.
    ///
    /// With `requestTimeout` a further connection ends another. The first to go is a connection that has not sent a whole head of
    /// a request, then one between two requests, then one that has taken an eighth of its time and more to send a request or to
    /// take an answer. Of each kind, the connection whose time would be up first goes. So a client that sends its request at once
    /// is answered, however many others hold places. It is one of the address (IPv6: /64) that has the most: whoever has as many
    /// as anybody ends its own, and of an address with more than a quarter of all places any connection goes. A connection whose
    /// request is being answered stays. If all are such, a further connection is closed as it comes. `descriptorCount` includes
    /// the few that were ended and are not closed yet.
    public var maximumConnections = 4096
    /// Connections of 127.0.0.1 and ::1 at a time, if they have places of their own. `maximumConnections` is then for all others,
    /// and each of both kinds ends only its own. Counts only with `requestTimeout`. Default 0, for no such places.
    public var reservedForLoopback = 0
    /// Connections from one address at a time. Further ones are ended as they come. Default 0, for no limit but the one above.
    public var maximumConnectionsPerPeer = 0
    /// Bytes of a request's body. A longer body is answered 413. Default 1 MiB.
    public var maximumBodyByteCount = 1 << 20
    /// Bytes of all bodies together that the server keeps at a time, beyond the first `uncountedBodyByteCount` of each. Default: no limit.
    ///
    /// A body counts as its bytes come, whatever length it has announced, until its answer has gone. A request whose next bytes are beyond
    /// the limit gets the answer `overload`.
    public var maximumBodyByteCountInAll = Int.max
    /// Bytes of each body that always find room, so that large bodies, however many and slow, keep no small one out. Default 4 KiB.
    public var uncountedBodyByteCount = 4 << 10
    /// Bytes of all answers together that clients have not taken yet. One address, of IPv6 its /64, may have a quarter of them, and half of
    /// what others leave. Default `nil`, for no limit.
    ///
    /// Answers of at most 4 KiB do not count, nor do shared bytes (``HTTPServerResponse/Upkeep``), nor answers of a handler that returns them.
    /// Beyond that the client gets the answer `congestion`, and its request with a body of more than 4 KiB `overload`, before it is carried
    /// out.
    public var maximumUnreadByteCountInAll: Int?
    /// Bytes of a request's header fields. More are answered 431. Default 32 KiB.
    public var maximumHeaderByteCount = 32 << 10
    /// The longest time for which a connection may be idle. Default 120 s, whole seconds.
    public var idleTimeout: Duration = .seconds(120)
    /// The time that a client has to send a whole request, and then to take the whole answer. Default `nil`, for as long as it is
    /// not idle.
    ///
    /// Up to an eighth of it later, the connection is ended, however often a byte has come or gone meanwhile. If the head is there and
    /// only the body has no end, it is answered 400 first, unless it is encrypted. The time of a
    /// request begins with its connection. For a later request on the same connection it begins with its first line, for which
    /// `idleTimeout` is allowed from the answer before. While the handler is at work, and until the answer is there, no time
    /// counts.
    public var requestTimeout: Duration?
    /// True if a connection may bring more than one request. Default true.
    public var keepsConnections = true
    /// Decides about a request when its head is there, before a byte of its body is kept. Default `nil`: every body is read.
    ///
    /// Called once for each request that is valid HTTP and announces no body of more than `maximumBodyByteCount`, on a server
    /// thread, concurrently. It should not block. The request has no body yet.
    public var admission: (@Sendable (_ head: HTTPServerRequest) -> HTTPAdmission)?
    /// The answer to a request whose body is beyond `maximumBodyByteCountInAll`. Default: 503 with `Retry-After: 1` and an empty
    /// body.
    ///
    /// Called on any thread. It should not block. The request has no body. Delivery and delay do not count, and the connection
    /// ends.
    public var overload: @Sendable (_ head: HTTPServerRequest) -> HTTPServerResponse = { _ in
        HTTPServerResponse(status: 503, headers: ["Retry-After": "1"])
    }
    /// The answer in place of one that is beyond `maximumUnreadByteCountInAll`. Default: 503 with `Retry-After: 1` and an empty body.
    ///
    /// Called on any thread. It should not block.
    public var congestion: @Sendable () -> HTTPServerResponse = {
        HTTPServerResponse(status: 503, headers: ["Retry-After": "1"])
    }
    /// The server's own answer, by status. Default: that status and an empty body.
    ///
    /// It is called for 400, 413, 415 and 431, on which a request is refused and its connection ends, for 500 after a
    /// ``Responder`` was dropped, and for 503 while the server stops. Called on any thread. It should not block. The delivery and
    /// delay of refused requests' answers do not count. If libmicrohttpd refuses a request before it has begun, such as a head
    /// that is no HTTP or has no Host, the answer is that library's own page.
    public var refusal: @Sendable (_ status: Int) -> HTTPServerResponse = { HTTPServerResponse(status: $0) }

    /// The defaults, listening on `listen`.
    public init(listen: String = "127.0.0.1:0", identity: Identity? = nil) {
        self.listen = listen
        self.identity = identity
    }

    /// The limits of a port for health probes and scrapes, which are short and few: its clients must neither take the descriptors
    /// that other things need, nor make probes wait behind it.
    public static func probes(listen: String) -> HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration(listen: listen)
        configuration.maximumConnections = 64
        configuration.maximumConnectionsPerPeer = 32
        configuration.reservedForLoopback = 16
        configuration.idleTimeout = .seconds(5)
        configuration.requestTimeout = .seconds(5)
        configuration.keepsConnections = false
        return configuration
    }

    /// File descriptors that its connections need at most: with `requestTimeout` those that were ended keep theirs until the next turn of
    /// their thread.
    public var descriptorCount: Int {
        let kinds = [max(1, maximumConnections), reservedForLoopback].filter { $0 > 0 }
        guard requestTimeout != nil else { return kinds[0] }
        return kinds.reduce(0) { $0 + $1 + ConnectionPlaces.spare(for: $1) } + threadCount
    }

    /// The number of connections that the library accepts: with `requestTimeout` more than there are places on each of its
    /// threads, which share its limit evenly, so that it never leaves one in the backlog by itself.
    var connectionLimit: Int { requestTimeout == nil ? descriptorCount : descriptorCount * max(1, threadCount) + threadCount }

    /// The host of a listen address, brackets removed, or `nil` when the text is no listen address.
    public static func host(of listen: String) -> String? { ListenSocket.split(listen)?.host }
}

/// The reason for which a server could not start.
public enum HTTPServingError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The listen address is not `host:port`, or its host is unknown.
    case badListenAddress(String)
    /// The system refused the address. The reason is its own text, and names the process that has the port, if known.
    case cannotListen(address: String, reason: String)
    /// The HTTP library refused to start: a bad certificate or key, or no threads left.
    case cannotServe(reason: String)
    /// The server runs already, or has been stopped.
    case notStartable

    /// One plain sentence.
    public var description: String {
        switch self {
        case .badListenAddress(let text): "'\(text)' is not an address to listen on: expected host:port or [ipv6]:port"
        case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
        case .cannotServe(let reason): "cannot serve: \(reason)"
        case .notStartable: "the server was started before"
        }
    }
}
