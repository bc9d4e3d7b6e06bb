public import Basics
public import Delivery
import GroupPositions
public import PushModel

/// The knowledge of one loop of a worker about its work, for whoever asks why it is stuck. No request's content and no device is
/// in it.
public struct LoopStatus: Sendable, Equatable {
    /// A request in work.
    public struct Oldest: Sendable, Equatable {
        /// The offset of its record in this partition.
        public var offset: Int64
        /// The time when the request was published, which for one in a delay lane was before its record was written.
        public var publishedAt: Timestamp
        /// The attempts made for its calls, the most of any one, those in flight included.
        public var attempt: Int
        /// The thing that it waits for: `hub` (an answer), `turn` (the limit, the pause or the circuit), or `timer`.
        public var waitsFor: String
        /// The time when its next call is due, if a timer holds it.
        public var nextDue: Timestamp?
    }

    /// The progress of reading the records of a partition that say where it begins.
    public struct Reading: Sendable, Equatable {
        /// The offsets that were passed.
        public var count: Int64
        /// The number of all offsets.
        public var total: Int64
        /// The bytes of keys and values that were read.
        public var byteCount: Int64

        /// In words.
        var text: String { "\(count) of \(total) records read, \(byteCount / 1_000_000) MB" }
    }

    /// A partition that the loop reads.
    public struct Partition: Sendable, Equatable {
        /// The topic's name.
        public var topic: String
        /// The partition's number.
        public var partition: Int32
        /// The next offset to read, or nil before the first record.
        public var position: Int64?
        /// The offset that the group has committed, or nil before the first commit.
        public var committed: Int64?
        /// Requests in work.
        public var inWork: Int
        /// The oldest of them.
        public var oldest: Oldest?
        /// The reason that the loop leaves it as it is, if it does.
        public var left: LeaveCause?

        /// The progress of reading the records that say where it begins, or nil if that is known.
        public var reading: Reading?

        /// True if the loop leaves it as it is until an operator decides.
        public var isLeft: Bool { left?.needsOperator ?? false }

        /// True if it is not read before a leader is back.
        public var waitsForLeader: Bool { left == .leaderAway }
    }

    /// The number of final results with one state.
    public struct Finished: Sendable, Equatable {
        /// The state.
        public var state: ResultState
        /// Their number.
        public var count: Int64
    }

    /// A hub that the loop sends through.
    public struct Hub: Sendable, Equatable {
        /// Its name in requests and results.
        public var name: String
        /// The region that it is in, or nil when not set.
        public var region: String?
        /// True if the settings do not have it any more, so that only what is in flight ends there.
        public var isRetired: Bool
        /// The reason that it does not count as one that works, in a sentence. Nil when it does.
        public var problem: String?
        /// Its circuit: `closed`, `half_open` or `open`.
        public var circuit: String
        /// The reason for the circuit's last opening, or nil if it never opened.
        public var circuitReason: String?
        /// The time when the circuit changes by itself next.
        public var circuitChange: Timestamp?
        /// The number of calls that may be in flight at once.
        public var limit: Int
        /// Calls in flight.
        public var inFlight: Int
        /// The calls that were answered or failed, since the process began or the settings named it again.
        public var callCount: Int64
        /// Calls that wait for their turn.
        public var waitingForTurn: Int
        /// Calls that wait for a timer.
        public var waitingForTimer: Int
        /// Calls per second that are this loop's share of its rate, or nil when that has no limit.
        public var ratePerSecond: Double?
        /// The time that it asked this loop to wait, in all, in milliseconds.
        public var throttledMilliseconds: Int64
        /// Until when it asks to wait now.
        public var throttledUntil: Timestamp?
        /// The limit for which its calls wait, or nil where none do.
        public var limitedBy: CallLimit?
    }

    /// A hold or limit that stands.
    public struct Order: Sendable, Equatable {
        /// Its id.
        public var id: String
        /// The word of its kind: `hold` or `limit`.
        public var kind: String
        /// The requests that the loop has put to wait by it.
        public var waiting: Int
        /// The calls a second of a limit, or nil of a hold.
        public var rate: Int?
        /// The calls that wait at the loop for their turn by this limit, at present.
        public var calls = 0
    }

    /// The ordering key behind which most of what waits for keys waits.
    public struct HeadOfLine: Sendable, Equatable {
        /// The topic of its partition.
        public var topic: String
        /// The partition's number.
        public var partition: Int32
        /// The numbers of requests, and the one before them.
        public var key: LongestKey
    }

    /// The member's name in the group.
    public var worker: String
    /// `running`, `revoking`, `stopping` or `stopped`.
    public var mode: String
    /// The time when this was written down.
    public var at: Timestamp
    /// The hubs, each with what holds its calls up.
    public var hubs: [Hub]
    /// Requests finished per second, over the last ten seconds.
    public var finishedPerSecond: Double
    /// The final results since the process began, by state. States that none has are left out.
    public var finished: [Finished] = []
    /// The calls of hubs that were answered or failed, since the process began.
    public var callCount: Int64 = 0
    /// The times from publishing to these results.
    public var latency = LatencyHistogram()
    /// The time when partitions were last assigned or taken away.
    public var lastRebalance: Timestamp?
    /// The time when a commit was last confirmed.
    public var lastCommit: Timestamp?
    /// The partitions that it reads, by topic and number.
    public var partitions: [Partition]
    /// False while the control topic is not read, so that what is cancelled is sent.
    public var heedsCancellations = true
    /// Anything else that holds requests up, or is not heeded, in one sentence. Nil if nothing is.
    public var problem: String?
    /// The reason that Kafka holds requests up, in one sentence. Nil if it does not.
    public var kafkaProblem: String?
    /// The ordering key behind which most of what waits for keys waits, or nil where that are few.
    public var headOfLine: HeadOfLine?
    /// The requests that wait for a hub that its settings do not have, by the hub's name.
    public var unknownHubs: [UnroutedWaits.Count] = []
    /// The holds and limits that stand, those without a tenant first, and of these the newest.
    public var orders: [Order] = []
    /// The number of those that have no count of their own.
    public var omittedOrders = 0

    /// The holds and limits that all of several loops obey, in their order, with the requests that these have put to wait together.
    static func orders(of statuses: [LoopStatus]) -> [Order] {
        guard let first = statuses.first, !first.orders.isEmpty else { return [] }
        let known = statuses.map { Dictionary($0.orders.map { ($0.id, $0) }, uniquingKeysWith: { $1 }) }
        return first.orders.compactMap { order in
            let counts = known.compactMap { $0[order.id] }
            guard counts.count == statuses.count else { return nil }
            return Order(
                id: order.id, kind: order.kind, waiting: counts.reduce(0) { $0 + $1.waiting }, rate: order.rate,
                calls: counts.reduce(0) { $0 + $1.calls })
        }
    }

    /// One sentence for all troubles, or nil where there is none.
    static func problem(_ reasons: [String?]) -> String? {
        let reasons = reasons.compactMap { $0 }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    /// The trouble with hubs that settings do not have: their names, and the requests that wait for each. Nil if none does.
    static func problem(ofUnknown hubs: [UnroutedWaits.Count]) -> String? {
        guard !hubs.isEmpty else { return nil }
        let count = hubs.reduce(0) { $0 + $1.count }
        let names = hubs.map { "\($0.hub) (\($0.count))" }.joined(separator: ", ")
        return (count == 1 ? "1 request waits" : "\(count) requests wait") + " for a hub that its settings do not have: " + names
    }

    /// The hub whose circuit is the worst off: what speaks for all of them.
    var worst: Hub? { hubs.max { Self.gravity($0) < Self.gravity($1) } }

    private static func gravity(_ hub: Hub) -> Int { hub.circuit == "open" ? 2 : hub.circuit == "closed" ? 0 : 1 }

    /// The worst circuit of all hubs: `closed`, `half_open` or `open`.
    public var circuit: String { worst?.circuit ?? "closed" }
    /// The reason for that circuit's last opening.
    public var circuitReason: String? { worst?.circuitReason }
    /// The time when that changes by itself next.
    public var circuitChange: Timestamp? { worst?.circuitChange }
    /// Calls that may be in flight at once, to all hubs.
    public var limit: Int { hubs.reduce(0) { $0 + $1.limit } }
    /// Calls in flight.
    public var inFlight: Int { hubs.reduce(0) { $0 + $1.inFlight } }
    /// Calls that wait for their turn.
    public var waitingForTurn: Int { hubs.reduce(0) { $0 + $1.waitingForTurn } }
    /// Calls that wait for a timer.
    public var waitingForTimer: Int { hubs.reduce(0) { $0 + $1.waitingForTimer } }
    /// The time that hubs asked this loop to wait, in all, in milliseconds.
    public var throttledMilliseconds: Int64 { hubs.reduce(0) { $0 + $1.throttledMilliseconds } }
    /// Until when the last of them asks to wait now.
    public var throttledUntil: Timestamp? { hubs.compactMap(\.throttledUntil).max() }
}

extension LoopStatus.Reading {
    /// That of a probe without an answer.
    init(_ probe: PartitionProbe) {
        let (count, total) = probe.progress
        self.init(count: count, total: total, byteCount: probe.byteCount)
    }
}
