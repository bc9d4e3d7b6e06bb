import Basics

/// The connections that have a place among a bounded number, since when the server waits for each of them, and the order in which
/// they make room. Nothing in it grows with time, and no operation's cost with the number of connections.
///
/// The server waits for a connection from its first byte to the end of its request, while its answer goes, and between two requests. It
/// does not while the client waits for the server.
struct ConnectionPlaces {
    /// The decision on one more connection.
    enum Room: Equatable {
        /// There is a place.
        case free
        /// There is one, for which this connection has to be ended.
        case inPlaceOf(Int32)
        case none
    }

    /// A connection whose time is up.
    struct Late: Equatable {
        let socket: Int32
        /// True if only the rest of its request's body is missing.
        let awaitsBody: Bool
    }

    private let maximum: Int
    private let requestLimit: UInt64
    private let idleLimit: UInt64
    /// The connections that have a place.
    private var held: Set<Int32> = []
    /// The connections that were ended and not closed yet.
    private var ending: Set<Int32> = []
    /// The beginning of the server's wait for each of them, in nanoseconds.
    private var since: [Int32: UInt64] = [:]
    /// The connections whose request or answer is on its way, the first to be late first.
    private var requests = SocketQueue()
    /// The connections among them without a whole head yet, or with a declined request.
    private var silent = SocketQueue()
    /// The connections whose request has come but for its body.
    private var bodies: Set<Int32> = []
    /// The connections between two requests, the first to be late first.
    private var idle = SocketQueue()
    /// The networks of those that have a place.
    private var origins = ConnectionOrigins()

    /// - Parameters:
    ///   - maximum: The number of places.
    ///   - request: Nanoseconds for a request, and for an answer.
    ///   - idle: Nanoseconds from an answer to the next request's first line, or 0 for no limit.
    init(maximum: Int, request: UInt64, idle: UInt64) {
        self.maximum = maximum
        requestLimit = request
        idleLimit = idle
    }

    /// The number of connections beyond `maximum` that may be open. Ended connections keep their descriptors until their thread's
    /// next turn.
    static func spare(for maximum: Int) -> Int { max(4, min(16, maximum / 32), maximum / 128) }

    /// True if a connection can become late.
    var canBeLate: Bool { requests.first != nil || (idleLimit > 0 && idle.first != nil) }

    /// A connection has come from an address, and its first request begins to come.
    mutating func enter(_ socket: Int32, from address: NumericAddress? = nil, at now: UInt64) {
        held.insert(socket)
        origins.add(socket, from: Self.network(of: address))
        begin(socket, at: now)
        silent.append(socket)
    }

    /// A connection is closed.
    mutating func leave(_ socket: Int32) {
        forget(socket)
        held.remove(socket)
        origins.remove(socket)
        ending.remove(socket)
    }

    /// A request begins to come, or an answer to go.
    mutating func begin(_ socket: Int32, at now: UInt64) {
        if wait(for: socket, at: now) { requests.append(socket) }
    }

    /// A whole head has come.
    mutating func speak(_ socket: Int32) { silent.remove(socket) }

    /// A request has come but for its body.
    mutating func awaitBody(_ socket: Int32) {
        if since[socket] != nil { bodies.insert(socket) }
    }

    /// Notes that the request was answered before its body came, which is then read and discarded. The connection keeps its time.
    mutating func decline(_ socket: Int32) {
        bodies.remove(socket)
        if since[socket] != nil { silent.append(socket) }
    }

    /// Notes that the answer was sent and the next request may come.
    mutating func rest(_ socket: Int32, at now: UInt64) {
        if wait(for: socket, at: now) { idle.append(socket) }
    }

    /// The client waits for the server. False if the connection was ended before.
    @discardableResult
    mutating func work(_ socket: Int32) -> Bool {
        forget(socket)
        return held.contains(socket)
    }

    /// Makes room for one more connection from an address. One of the network goes that has the most: one that has sent nothing, else one
    /// between two requests, else one that has taken an eighth of its time and more for its request or its answer. Of each kind, the one that
    /// is late first goes. Within one network an idle one goes before one that has come just now. A connection whose request is being answered stays.
    mutating func makeRoom(for address: NumericAddress? = nil, at now: UInt64) -> Room {
        guard held.count + ending.count < maximum + Self.spare(for: maximum) else { return .none }
        guard held.count >= maximum else { return .free }
        guard let socket = choose(for: Self.network(of: address), at: now) else { return .none }
        end(socket)
        return .inPlaceOf(socket)
    }

    /// Chooses the connection that goes for one more from a network.
    private mutating func choose(for network: ConnectionOrigins.Network, at now: UInt64) -> Int32? {
        let first = silent.first ?? idle.first ?? first(of: requests, after: requestLimit / 8, at: now)
        let (own, most) = (origins.count(of: network), origins.most)
        if own > 1, own >= most {
            // Nobody else has more: so it is one of its own, or one that has been silent for long. One that has just come is about to speak.
            let due = self.first(of: silent, after: requestLimit / 64, at: now) ?? idle.first ?? first
            if let due, origins[due] == network { return due }
            return choose(of: network, after: requestLimit / 8, at: now)
                ?? self.first(of: silent, after: requestLimit / 8, at: now)
        }
        guard most > own + 1, first.map({ origins.count(of: origins[$0]) < most }) ?? true else { return first }
        // A network with more than a quarter of all places has no time of its own for a request.
        return choose(of: origins.greediest, after: most > maximum / 4 ? 0 : requestLimit / 8, at: now) ?? first
    }

    /// Chooses among ``sampleSize`` connections of a network, the next ones at each call: one that is silent, else idle, else late by `limit`.
    private mutating func choose(of network: ConnectionOrigins.Network, after limit: UInt64, at now: UInt64) -> Int32? {
        var (idler, slow) = (Int32?.none, Int32?.none)
        for _ in 0..<min(Self.sampleSize, origins.count(of: network)) {
            guard let socket = origins.next(of: network) else { break }
            if silent.contains(socket) { return socket }
            if idler == nil, idle.contains(socket) { idler = socket }
            if slow == nil, requests.contains(socket), let start = since[socket], now >= start, now - start >= limit {
                slow = socket
            }
        }
        return idler ?? slow
    }

    /// The most connections of one network that are looked at for one that goes.
    private static let sampleSize = 64

    /// The network that counts as one peer: an IPv4 address, or the first 64 bits of an IPv6 address, which one customer has.
    private static func network(of address: NumericAddress?) -> ConnectionOrigins.Network {
        address.map { $0.unmapped.network(ofBits: 64) }
    }

    /// Takes out a late connection, or returns nil when none is late.
    mutating func removeLate(at now: UInt64) -> Late? {
        let restless = idleLimit > 0 ? first(of: idle, after: idleLimit, at: now) : nil
        guard let socket = first(of: requests, after: requestLimit, at: now) ?? restless else { return nil }
        let late = Late(socket: socket, awaitsBody: bodies.contains(socket))
        end(socket)
        return late
    }

    private func first(of queue: SocketQueue, after limit: UInt64, at now: UInt64) -> Int32? {
        guard let socket = queue.first, let start = since[socket], now >= start, now - start >= limit else { return nil }
        return socket
    }

    /// Begins to wait for a connection, unless it was ended.
    private mutating func wait(for socket: Int32, at now: UInt64) -> Bool {
        forget(socket)
        guard held.contains(socket) else { return false }
        since[socket] = now
        return true
    }

    private mutating func forget(_ socket: Int32) {
        since[socket] = nil
        requests.remove(socket)
        silent.remove(socket)
        idle.remove(socket)
        bodies.remove(socket)
    }

    private mutating func end(_ socket: Int32) {
        forget(socket)
        held.remove(socket)
        origins.remove(socket)
        ending.insert(socket)
    }
}
