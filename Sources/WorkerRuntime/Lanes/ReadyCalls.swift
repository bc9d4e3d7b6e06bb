import Delivery

/// Calls that wait to be sent: of each lane those of new requests and those that come from a delay lane, each first come first served.
/// The lanes have turns by weight, and the two kinds of a lane take turns.
struct ReadyCalls {
    private struct LaneQueue {
        var fresh = CallQueue()
        var delayed = CallQueue()
        /// Which of the two had the last turn.
        var wasDelayed = false

        var isEmpty: Bool { fresh.isEmpty && delayed.isEmpty }

        mutating func removeNext() -> (call: CallID, generation: UInt32)? {
            wasDelayed = fresh.isEmpty || !wasDelayed && !delayed.isEmpty
            return wasDelayed ? delayed.removeFirst() : fresh.removeFirst()
        }
    }

    private var queues: [LaneQueue]
    private var turns: WeightedTurns
    /// The lanes that have calls, as bits.
    private var waiting: UInt64 = 0
    /// All calls.
    private(set) var count = 0
    /// Those that come from a delay lane.
    private(set) var delayedCount = 0

    init(_ weights: LaneWeights) {
        queues = Lane.allCases.map { _ in LaneQueue() }
        turns = WeightedTurns(weights: weights.all)
    }

    var isEmpty: Bool { count == 0 }

    /// The calls of one lane's new requests.
    func freshCount(of lane: Lane) -> Int { queues[lane.rawValue].fresh.count }

    mutating func append(_ call: CallID, generation: UInt32, to lane: Lane, isDelayed: Bool = false) {
        if isDelayed {
            queues[lane.rawValue].delayed.append(call, generation: generation)
            delayedCount += 1
        } else {
            queues[lane.rawValue].fresh.append(call, generation: generation)
        }
        waiting |= 1 << UInt64(lane.rawValue)
        count += 1
    }

    /// Whether one of `lanes`, given as bits, has calls.
    func hasCalls(in lanes: UInt64) -> Bool { waiting & lanes != 0 }

    /// Takes out the call whose turn it is among the lanes given as bits.
    mutating func removeNext(in lanes: UInt64) -> (call: CallID, generation: UInt32)? {
        guard let lane = turns.next(among: waiting & lanes), let next = queues[lane].removeNext() else { return nil }
        if queues[lane].wasDelayed { delayedCount -= 1 }
        if queues[lane].isEmpty { waiting &= ~(1 << UInt64(lane)) }
        count -= 1
        return next
    }

    /// Takes out the calls that nobody wants to be made any more; the others keep their order.
    mutating func removeAll(unless isWanted: (CallID, UInt32) -> Bool) {
        for lane in queues.indices {
            queues[lane].fresh.removeAll(unless: isWanted)
            queues[lane].delayed.removeAll(unless: isWanted)
            if queues[lane].isEmpty { waiting &= ~(1 << UInt64(lane)) }
        }
        delayedCount = queues.reduce(0) { $0 + $1.delayed.count }
        count = queues.reduce(delayedCount) { $0 + $1.fresh.count }
    }
}
