import PushModel

/// The holds and limits that stand, each with the requests that one loop has put to wait by it. For status and metrics alone: nothing is
/// decided by it.
struct HeldCounts {
    /// An order that stands.
    struct Count: Equatable {
        /// The order's id.
        var id: String
        /// The word of its kind: `hold` or `limit`.
        var kind: String
        /// The moment of it.
        var since: Timestamp
        /// The requests that this loop has put to wait by it.
        var waiting: Int
        /// The calls a second of a limit, or nil of a hold.
        var rate: Int?
        /// The earliest expiry among those that expire while it stands, to a minute, and never too late. Nil if none does any more.
        var nextExpiry: Timestamp?
    }

    private struct Entry {
        var order: OrderRecord?
        var waiting = 0
        /// The minutes of 1970 in which some of those requests expire, from `firstMinute` on, a bit each.
        var expiries: [UInt64] = []
        var firstMinute: Int64 = 0

        /// The earliest expiry from now on, before an order's end.
        func nextExpiry(at now: Timestamp, before end: Timestamp) -> Timestamp? {
            let first = max(0, now.milliseconds / minute - firstMinute)
            for word in expiries.indices.dropFirst(Int(first / 64)) {
                let hidden: UInt64 = Int64(word) == first / 64 ? (1 << UInt64(first % 64)) - 1 : 0
                let bits = expiries[word] & ~hidden
                guard bits != 0 else { continue }
                let place = firstMinute + Int64(word * 64 + bits.trailingZeroBitCount)
                let moment = Timestamp(milliseconds: place * minute)
                return moment < end ? moment : nil
            }
            return nil
        }
    }

    /// The most orders with a count of their own: a thousand tenants may give a hundred each.
    static let most = 100
    /// The most minutes of an order: it stands no longer.
    private static let mostMinutes = OrderRecord.longest / minute
    private static let minute: Int64 = 60_000

    private var entries: [String: Entry] = [:]
    /// The number of holds and limits that stand beyond these.
    private(set) var omittedCount = 0

    /// Counts a request that is put to wait by an order. One that goes on from lane to lane is counted the first time.
    ///
    /// - Parameters:
    ///   - id: The order's id.
    ///   - expiresAt: The request's expiry.
    ///   - now: The present moment.
    mutating func note(_ id: String, expiresAt: Timestamp?, now: Timestamp) {
        guard var entry = entries.removeValue(forKey: id) ?? (entries.count < Self.most ? Entry() : nil) else { return }
        entry.waiting += 1
        if let expiresAt, expiresAt > now { Self.note(expiresAt, in: &entry, now: now) }
        entries[id] = entry
    }

    private static func note(_ expiry: Timestamp, in entry: inout Entry, now: Timestamp) {
        if entry.expiries.isEmpty { entry.firstMinute = now.milliseconds / minute }
        let place = expiry.milliseconds / minute - entry.firstMinute
        guard (0...mostMinutes).contains(place) else { return }
        let word = Int(place / 64)
        while entry.expiries.count <= word { entry.expiries.append(0) }
        entry.expiries[word] |= 1 << UInt64(place % 64)
    }

    /// Takes in the orders that stand, and forgets those that have ended. To be called when they have changed.
    ///
    /// - Parameter orders: Those that stand. Cancellations let nothing wait. Of too many, those of tenants have their place last, and the
    ///   oldest of them.
    mutating func keep(_ orders: [OrderRecord]) {
        let slowing = orders.filter { if case .cancel = $0.kind { false } else { true } }.sorted { Self.precedes($0, before: $1) }
        entries = Dictionary(
            slowing.prefix(Self.most).map { order in
                var entry = entries[order.id] ?? Entry()
                entry.order = order
                return (order.id, entry)
            }, uniquingKeysWith: { first, _ in first })
        omittedCount = slowing.count - entries.count
    }

    /// The orders that stand, up to `most`: those without a tenant first, and of these the newest.
    func counts(at now: Timestamp) -> [Count] {
        guard !entries.isEmpty else { return [] }
        return entries.values.compactMap { entry in
            entry.order.flatMap { $0.stands(at: now) ? ($0, entry) : nil }
        }.sorted { Self.precedes($0.0, before: $1.0) }.map { order, entry in
            Count(
                id: order.id, kind: order.word, since: order.since, waiting: entry.waiting, rate: order.rate,
                nextExpiry: entry.nextExpiry(at: now, before: order.until))
        }
    }

    private static func precedes(_ left: OrderRecord, before right: OrderRecord) -> Bool {
        (left.scope.tenant == nil ? 0 : 1, right.since, left.id) < (right.scope.tenant == nil ? 0 : 1, left.since, right.id)
    }
}

extension OrderRecord {
    /// The calls a second of a limit, or nil of another order.
    fileprivate var rate: Int? { if case .limit(let rate) = kind { rate } else { nil } }
}
