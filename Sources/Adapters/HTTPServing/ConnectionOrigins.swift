import Basics

/// The networks that the open connections come from, and the one from which most of them come. Each operation takes constant time, and costs
/// a connection only at its beginning and its end.
struct ConnectionOrigins {
    /// An IPv4 address, or the first 64 bits of an IPv6 address. Nil for a peer without one.
    typealias Network = NumericAddress?

    private var networks: [Int32: Network] = [:]
    /// The connections of each network, the one first that was looked at least recently.
    private var sockets: [Network: SocketQueue] = [:]
    /// The networks by the number of their connections.
    private var byCount: [Int: Set<Network>] = [:]
    /// The most connections that one network has.
    private(set) var most = 0

    /// A network that has the most connections.
    var greediest: Network { byCount[most]?.first ?? nil }

    /// The number of connections that a network has.
    func count(of network: Network) -> Int { sockets[network]?.count ?? 0 }

    /// The network that a connection comes from.
    subscript(socket: Int32) -> Network { networks[socket] ?? nil }

    /// Adds a connection.
    mutating func add(_ socket: Int32, from network: Network) {
        remove(socket)
        networks[socket] = network
        sockets[network, default: SocketQueue()].append(socket)
        let now = count(of: network)
        move(network, from: now - 1, to: now)
    }

    /// Removes a connection, if it is there.
    mutating func remove(_ socket: Int32) {
        guard let network = networks.removeValue(forKey: socket) else { return }
        let before = count(of: network)
        sockets[network]?.remove(socket)
        if before == 1 { sockets[network] = nil }
        move(network, from: before, to: before - 1)
    }

    /// A connection of a network, the next one at each call.
    mutating func next(of network: Network) -> Int32? {
        guard let socket = sockets[network]?.first else { return nil }
        sockets[network]?.append(socket)
        return socket
    }

    private mutating func move(_ network: Network, from before: Int, to now: Int) {
        byCount[before]?.remove(network)
        if byCount[before]?.isEmpty == true { byCount[before] = nil }
        if now > 0 { byCount[now, default: []].insert(network) }
        // The two counts are neighbours.
        most = max(now, byCount[most] == nil ? now : most)
    }
}
