import Basics
public import PushModel

/// The requests that were cancelled, by their ids.
///
/// A cancellation concerns what was published until its moment: who uses the id again later means another request. It is remembered for
/// `lifetime`, which is longer than topics keep a request unread, so that none can be waiting that it still concerns. No more than
/// `capacity` are remembered; beyond, the one that came first is forgotten.
public struct Cancellations: Sendable {
    /// One of them.
    public struct Cancellation: Sendable, Equatable {
        /// The moment until which requests of this id are cancelled.
        public fileprivate(set) var moment: Timestamp
        /// The reason, in the words of whoever cancelled, cut to `reasonLimit`.
        public fileprivate(set) var reason: String?
    }

    /// The time for which a cancellation is remembered: 8 days in milliseconds. Topics keep requests, and what waits in delay
    /// lanes, for 7.
    public static let lifetime: Int64 = 8 * 86_400_000
    /// The most that are remembered: 100,000, with their ids and reasons at most 30 MB.
    public static let capacity = 100_000
    /// The most characters of a reason that are kept.
    public static let reasonLimit = CancelRecord.maximumReasonLength

    private let capacity: Int
    private var known: [String: Cancellation] = [:]
    /// The ids in the order in which they came.
    private var order = FIFO<String>()
    /// Cancellations that were forgotten before their time, because there were too many.
    public private(set) var forgottenCount = 0

    /// No cancellation.
    ///
    /// - Parameter capacity: The most that are remembered, at least 1; default `Cancellations.capacity`.
    public init(capacity: Int = Self.capacity) {
        self.capacity = max(1, capacity)
    }

    /// True if there is none.
    public var isEmpty: Bool { known.isEmpty }

    /// The number of cancellations.
    public var count: Int { known.count }

    /// Adds a cancellation. A later one of the same id takes the place of an earlier one.
    ///
    /// - Parameters:
    ///   - id: The id of the request.
    ///   - moment: When it was cancelled. One that is yet to come is taken for `now`.
    ///   - reason: Why.
    ///   - now: The present moment.
    /// - Returns: Whether it can concern a request; false for one that is as old as `lifetime`, or than one that is known.
    @discardableResult
    public mutating func add(_ id: String, at moment: Timestamp, reason: String? = nil, now: Timestamp) -> Bool {
        let moment = min(moment, now)
        guard now.milliseconds(since: moment) < Self.lifetime else { return false }
        let new = Cancellation(moment: moment, reason: reason.map { String($0.prefix(Self.reasonLimit)) })
        if let old = known[id] {
            guard old.moment < moment else { return false }
            known[id] = new
            return true
        }
        if known.count == capacity {
            removeFirst()
            forgottenCount += 1
        }
        known[id] = new
        order.append(id)
        return true
    }

    /// The cancellation that concerns a request.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - published: When it was published.
    /// - Returns: Nil if it is not cancelled.
    public func cancellation(of id: String, published: Timestamp) -> Cancellation? {
        guard let found = known[id], published <= found.moment else { return nil }
        return found
    }

    /// The cancellation that concerns a request: of itself, of the whole that it is a part of, or of what it replays.
    ///
    /// - Parameters:
    ///   - request: The request. What it says of a whole or of a replay is believed.
    ///   - published: When it was published.
    /// - Returns: Nil if it is not cancelled.
    public func cancellation(of request: borrowing PushRequest, published: Timestamp) -> Cancellation? {
        guard !isEmpty else { return nil }
        if let own = cancellation(of: request.document.string(request.id), published: published) { return own }
        if let part = PartReference(of: request) { return cancellation(of: part.parentID, published: part.publishedAt) }
        guard let lineage = request.replay else { return nil }
        for name: StaticString in ["root_request_id", "parent_request_id"] {
            guard let node = request.document.member(name, of: lineage) else { continue }
            let id = request.document.string(request.document.text(of: node))
            if let found = cancellation(of: id, published: published) { return found }
        }
        return nil
    }

    /// Forgets what is as old as `lifetime`. To be called now and then.
    ///
    /// - Parameter now: The present moment.
    public mutating func removeExpired(now: Timestamp) {
        while let id = order.first, let oldest = known[id], now.milliseconds(since: oldest.moment) >= Self.lifetime {
            removeFirst()
        }
    }

    /// Forgets the one that came first.
    private mutating func removeFirst() {
        if let id = order.popFirst() { known[id] = nil }
    }
}
