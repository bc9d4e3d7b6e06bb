import PushModel

/// The status of a worker's loops, cut to one small record: what is in trouble first, then the requests that have waited longest.
///
/// It reads as the page `/status` does. What has no room is counted: `hubs_omitted` and `partitions_omitted` of a loop, and in `omitted`
/// loops with their results and calls. Those of them that are in trouble are `troubles_omitted`, in both. The times of all loops are always
/// there, and the orders that stand: `orders_omitted` are without room.
struct StatusRecord {
    /// The most bytes of a record's value.
    static let limit = 4096
    /// The most bytes of the orders that stand, about 18 of them.
    private static let orderRoom = 1024
    /// The bytes that are kept for hubs and partitions, however many loops there are.
    private static let detailRoom = 1024
    /// The most bytes of what closes a loop: its lists and its three numbers.
    private static let loopEnd = 128
    /// The most bytes of what closes the record, with one loop and with several.
    private static let ends = (one: 16, several: 640)
    /// The most characters of a text that is not a name.
    private static let textLimit = 240
    /// The pieces without room after which no other is tried.
    private static let patience = 8
    /// The most partitions of a loop without a request that are tried. With a topic of one letter, each takes 40 bytes.
    private static let quietLimit = limit / 40 + patience

    private struct Loop {
        let place: Int
        let head: [UInt8]
        var pieces: [(isHub: Bool, place: Int, bytes: [UInt8])] = []
        /// The number of those that are in trouble.
        var problemCount = 0
    }

    /// A hub or a partition. Those with lower ranks go first, and of one rank those since an earlier time.
    private struct Piece {
        let rank: Int
        var since = Int64.max
        let loop: Int
        let place: Int
        let isHub: Bool

        var order: (Int, Int64, Int, Int) { (rank, since, loop, place) }
        var isProblem: Bool { rank <= StatusRecord.problemRank }
    }

    private let statuses: [LoopStatus]
    private let beginning: [UInt8]
    private var loops: [Loop] = []
    private var room: Int

    /// A record of what loops wrote down.
    init(_ statuses: [LoopStatus], version: String, hub: String) {
        self.statuses = statuses
        var writer = ByteWriter(capacity: 512)
        writer.appendBeginning(version: Self.cut(version), hub: Self.cut(hub), of: statuses, orderBytes: Self.orderRoom)
        beginning = writer.bytes
        room = Self.limit - beginning.count - (statuses.count > 1 ? Self.ends.several : Self.ends.one)
        addLoops()
        addPieces()
    }

    /// The record's value, at most `limit` bytes.
    var json: [UInt8] {
        var writer = ByteWriter(capacity: Self.limit)
        writer.append(beginning.span)
        for (index, loop) in loops.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(loop.head.span)
            let status = statuses[loop.place]
            writer.append("hubs", pieces: loop.pieces.filter(\.isHub), of: status.hubs.count)
            writer.append("partitions", pieces: loop.pieces.filter { !$0.isHub }, of: status.partitions.count)
            writer.append(omittedProblems: Self.problemCount(of: status) - loop.problemCount)
            writer.append("}")
        }
        writer.append("]")
        let kept = Set(loops.map(\.place))
        let omitted = statuses.indices.filter { !kept.contains($0) }.map { statuses[$0] }
        if !omitted.isEmpty { writer.append(omitted: omitted, inTrouble: omitted.count { !Self.isGood($0) }) }
        writer.append("}")
        return writer.bytes
    }

    private mutating func addLoops() {
        let order = statuses.indices.sorted { (Self.isGood(statuses[$0]) ? 1 : 0, $0) < (Self.isGood(statuses[$1]) ? 1 : 0, $1) }
        for place in order {
            var writer = ByteWriter(capacity: 640)
            writer.appendHead(of: Self.cut(statuses[place]))
            let size = writer.count + Self.loopEnd
            guard size <= room - (loops.isEmpty ? 0 : Self.detailRoom) else { continue }
            room -= size
            loops.append(Loop(place: place, head: writer.bytes))
        }
        loops.sort { $0.place < $1.place }
    }

    private mutating func addPieces() {
        var misses = 0
        for piece in pieces.sorted(by: { $0.order < $1.order }) {
            let status = statuses[loops[piece.loop].place]
            var writer = ByteWriter(capacity: 256)
            if piece.isHub {
                writer.append(Self.cut(status.hubs[piece.place]))
            } else {
                writer.append(status.partitions[piece.place])
            }
            guard writer.count < room else {
                misses += 1
                if misses == Self.patience { return }
                continue
            }
            room -= writer.count + 1
            loops[piece.loop].pieces.append((piece.isHub, piece.place, writer.bytes))
            if piece.isProblem { loops[piece.loop].problemCount += 1 }
        }
    }

    private var pieces: [Piece] {
        loops.indices.flatMap { loop in
            let status = statuses[loops[loop].place]
            let hubs = status.hubs.enumerated().map { place, hub in
                Piece(
                    rank: Self.isGood(hub) ? place == 0 || hub.limitedBy != nil ? 2 : 4 : 0, loop: loop, place: place, isHub: true
                )
            }
            var quietCount = 0
            let partitions = status.partitions.indices.compactMap { place -> Piece? in
                let rank = Self.rank(of: status.partitions[place])
                if rank == Self.quietRank { quietCount += 1 }
                guard rank != Self.quietRank || quietCount <= Self.quietLimit else { return nil }
                let since = status.partitions[place].oldest?.publishedAt.milliseconds
                return Piece(rank: rank, since: since ?? .max, loop: loop, place: place, isHub: false)
            }
            return hubs + partitions
        }
    }

    /// The highest of what is in trouble.
    private static let problemRank = 1
    /// That of the partitions without a request, which come last.
    private static let quietRank = 5

    private static func rank(of partition: LoopStatus.Partition) -> Int {
        if partition.left != nil || partition.reading != nil { return problemRank }
        return partition.oldest == nil ? quietRank : 3
    }

    private static func problemCount(of status: LoopStatus) -> Int {
        status.hubs.count { !isGood($0) } + status.partitions.count { rank(of: $0) == problemRank }
    }

    private static func isGood(_ hub: LoopStatus.Hub) -> Bool {
        hub.circuit == "closed" && hub.problem == nil && hub.throttledUntil == nil
    }

    private static func isGood(_ status: LoopStatus) -> Bool {
        status.mode == "running" && status.problem == nil && status.kafkaProblem == nil && status.hubs.allSatisfy(isGood)
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= textLimit ? text : String(Substring(text.unicodeScalars.prefix(textLimit)))
    }

    private static func cut(_ hub: LoopStatus.Hub) -> LoopStatus.Hub {
        var hub = hub
        hub.problem = hub.problem.map(cut)
        hub.circuitReason = hub.circuitReason.map(cut)
        return hub
    }

    private static func cut(_ status: LoopStatus) -> LoopStatus {
        var status = status
        status.problem = status.problem.map(cut)
        status.kafkaProblem = status.kafkaProblem.map(cut)
        status.hubs = status.hubs.map { cut($0) }
        return status
    }
}

extension ByteWriter {
    /// Appends a list, and how many of all are not in it.
    fileprivate mutating func append(_ name: StaticString, pieces: [(isHub: Bool, place: Int, bytes: [UInt8])], of count: Int) {
        add(name, list: pieces.sorted { $0.place < $1.place }) { $0.append($1.bytes.span) }
        guard pieces.count < count else { return }
        append(",\"")
        append(name)
        append("_omitted\":", decimal: count - pieces.count)
    }

    /// Appends the number of what is in trouble and without room, if there is any.
    fileprivate mutating func append(omittedProblems count: Int) {
        if count > 0 { append(",\"troubles_omitted\":", decimal: count) }
    }

    /// Appends the number of loops without room, and what they counted.
    fileprivate mutating func append(omitted statuses: [LoopStatus], inTrouble problemCount: Int) {
        var counts: [ResultState: Int64] = [:]
        for part in statuses.flatMap(\.finished) { counts[part.state, default: 0] += part.count }
        append(",\"omitted\":{\"loops\":", decimal: statuses.count)
        append(
            finished: ResultState.allCases.compactMap { state in counts[state].map { .init(state: state, count: $0) } },
            calls: statuses.reduce(0) { $0 + $1.callCount })
        append(omittedProblems: problemCount)
        append("}")
    }
}
