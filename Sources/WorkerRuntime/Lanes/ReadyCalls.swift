import Delivery

/// Calls that wait to be sent: a queue for each lane, first come first served in it, and turns by weight between them.
struct ReadyCalls {
    private var queues: [CallQueue]
    private var turns: WeightedTurns
    /// The lanes that have calls, as bits.
    private var waiting: UInt64 = 0
    /// The calls of all lanes.
    private(set) var count = 0

    init(_ weights: LaneWeights) {
        queues = Lane.allCases.map { _ in CallQueue() }
        turns = WeightedTurns(weights: Lane.allCases.map { weights[$0] })
    }

    var isEmpty: Bool { count == 0 }

    /// The calls of one lane.
    func count(of lane: Lane) -> Int { queues[lane.rawValue].count }

    mutating func append(_ call: CallID, generation: UInt32, to lane: Lane) {
        queues[lane.rawValue].append(call, generation: generation)
        waiting |= 1 << UInt64(lane.rawValue)
        count += 1
    }

    /// Takes out the call whose turn it is.
    mutating func removeNext() -> (call: CallID, generation: UInt32)? {
        guard let lane = turns.next(among: waiting), let next = queues[lane].removeFirst() else { return nil }
        if queues[lane].isEmpty { waiting &= ~(1 << UInt64(lane)) }
        count -= 1
        return next
    }

    /// Takes out the calls that nobody wants to be made any more; the others keep their order.
    mutating func removeAll(unless isWanted: (CallID, UInt32) -> Bool) {
        for lane in queues.indices {
            queues[lane].removeAll(unless: isWanted)
            if queues[lane].isEmpty { waiting &= ~(1 << UInt64(lane)) }
        }
        count = queues.reduce(0) { $0 + $1.count }
    }
}
