/// A queue of sockets, each in it once, from which any one can be taken out. Every operation takes constant time.
struct SocketQueue {
    private struct Neighbours {
        var before: Int32?
        var after: Int32?
    }

    private var neighbours: [Int32: Neighbours] = [:]
    /// The one that has been in it for longest.
    private(set) var first: Int32?
    private var last: Int32?

    /// The number of sockets in it.
    var count: Int { neighbours.count }

    func contains(_ socket: Int32) -> Bool { neighbours[socket] != nil }

    /// Puts a socket behind all others. A socket that is in it already leaves its place.
    mutating func append(_ socket: Int32) {
        remove(socket)
        neighbours[socket] = Neighbours(before: last)
        if let last { neighbours[last]?.after = socket } else { first = socket }
        last = socket
    }

    /// Takes a socket out, if it is there.
    mutating func remove(_ socket: Int32) {
        guard let its = neighbours.removeValue(forKey: socket) else { return }
        if let before = its.before { neighbours[before]?.after = its.after } else { first = its.after }
        if let after = its.after { neighbours[after]?.before = its.before } else { last = its.before }
    }
}
