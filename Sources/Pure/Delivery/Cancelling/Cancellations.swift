import Basics
public import PushModel

/// The requests that were cancelled, by their ids and by whose they are.
///
/// A cancellation concerns what was published until its moment: who uses the id again later means another request. It is remembered for
/// `lifetime`, which is longer than topics keep a request unread, so that none can be waiting that it still concerns. No more than
/// `capacity` are remembered; beyond, the first of the scope that has the most is forgotten. So a scope that has no more than its equal
/// part loses none, however many others add.
public struct Cancellations: Sendable {
    /// One of them.
    public struct Cancellation: Sendable, Equatable {
        /// The moment until which requests of this id are cancelled.
        public fileprivate(set) var moment: Timestamp
        /// The reason, in the words of whoever cancelled, cut to `reasonLimit` and `reasonByteLimit`.
        public fileprivate(set) var reason: String?

        /// A cancellation of what was published until a moment.
        public init(moment: Timestamp, reason: String?) {
            self.moment = moment
            self.reason = reason.map(Cancellations.cut)
        }
    }

    /// The time for which a cancellation is remembered: 8 days in milliseconds. Topics keep requests, and what waits in delay
    /// lanes, for 7.
    public static let lifetime: Int64 = 8 * 86_400_000
    /// The most that are remembered: 100,000. With ids of 64 bytes and reasons of 100 they take some 30 MB.
    public static let capacity = 100_000
    /// The most characters of a reason that are kept.
    public static let reasonLimit = CancelRecord.maximumReasonLength
    /// The most bytes of a reason that are kept.
    public static let reasonByteLimit = 1000

    /// Those of one scope.
    private struct Share {
        var known: [String: Cancellation] = [:]
        /// The ids in the order in which they came.
        var order = FIFO<String>()
    }

    private let capacity: Int
    /// None is empty.
    private var shares: [CancelRecord.Scope: Share] = [:]
    private var ranking = ShareRanking<CancelRecord.Scope>()
    /// No first one of a scope is as old as `lifetime` before this.
    private var nextExpiry = Timestamp.never
    /// The number of cancellations.
    public private(set) var count = 0
    /// Cancellations that were forgotten before their time, because there were too many.
    public private(set) var forgottenCount = 0

    /// No cancellation. At most `capacity` are remembered, at least 1.
    public init(capacity: Int = Self.capacity) { self.capacity = max(1, capacity) }

    /// True if there is none.
    public var isEmpty: Bool { count == 0 }

    /// Adds a cancellation. A later one of the same id and scope takes the place of an earlier one.
    ///
    /// - Parameters:
    ///   - cancel: Which request it concerns, and why.
    ///   - moment: When it was cancelled. One that is yet to come is taken for `now`.
    ///   - now: The present moment.
    /// - Returns: Whether it can concern a request; false for one that is as old as `lifetime`, or than one that is known.
    @discardableResult
    public mutating func add(_ cancel: CancelRecord, at moment: Timestamp, now: Timestamp) -> Bool {
        let moment = min(moment, now)
        guard now.milliseconds(since: moment) < Self.lifetime else { return false }
        let (id, scope) = (cancel.requestID, cancel.scope)
        if let old = shares[scope]?.known[id] {
            guard old.moment < moment else { return false }
        } else {
            makeRoom(for: scope)
            let held = shares[scope]?.order.count ?? 0
            shares[scope, default: Share()].order.append(id)
            ranking.move(scope, from: held, to: held + 1)
            count += 1
        }
        shares[scope]?.known[id] = Cancellation(moment: moment, reason: cancel.reason)
        nextExpiry = min(nextExpiry, moment.adding(milliseconds: Self.lifetime))
        return true
    }

    fileprivate static func cut(_ reason: String) -> String {
        var byteCount = 0
        return String(
            reason.prefix(reasonLimit).prefix { character in
                byteCount += character.utf8.count
                return byteCount <= reasonByteLimit
            })
    }

    /// Forgets one if there is no room for another: of the scope itself if it would then have the most, else of one that has.
    private mutating func makeRoom(for scope: CancelRecord.Scope) {
        guard count == capacity, let largest = ranking.first else { return }
        let held = shares[scope]?.order.count ?? 0
        removeFirst(of: held > 0 && held + 1 >= ranking.most ? scope : largest)
        forgottenCount += 1
    }

    /// The cancellation that concerns a request.
    ///
    /// - Parameters:
    ///   - name: The request's name.
    ///   - published: When it was published.
    /// - Returns: Nil if it is not cancelled.
    public func cancellation(of name: RequestName, published: Timestamp) -> Cancellation? {
        guard !isEmpty else { return nil }
        for scope in name.scopes {
            if let found = shares[scope]?.known[name.id], published <= found.moment { return found }
        }
        return nil
    }

    /// The cancellation that concerns a request: of itself, of the whole that it is a part of, or of what it replays.
    ///
    /// - Parameters:
    ///   - request: The request. What it says of a whole or of a replay is believed; both have its source and its tenant.
    ///   - published: When it was published.
    /// - Returns: Nil if it is not cancelled.
    public func cancellation(of request: borrowing PushRequest, published: Timestamp) -> Cancellation? {
        guard !isEmpty else { return nil }
        var name = RequestName(of: request)
        if let own = cancellation(of: name, published: published) { return own }
        if let part = PartReference(of: request) {
            name.id = part.parentID
            return cancellation(of: name, published: part.publishedAt)
        }
        guard let lineage = request.replay else { return nil }
        for member: StaticString in ["root_request_id", "parent_request_id"] {
            guard let node = request.document.member(member, of: lineage) else { continue }
            name.id = request.document.string(request.document.text(of: node))
            if let found = cancellation(of: name, published: published) { return found }
        }
        return nil
    }

    /// Forgets what is as old as `lifetime`. To be called now and then.
    ///
    /// It goes through the scopes, of which there are no more than keys and clients that cancel, only when something has become too old.
    ///
    /// - Parameter now: The present moment.
    public mutating func removeExpired(now: Timestamp) {
        guard nextExpiry <= now else { return }
        var next = Timestamp.never
        for scope in Array(shares.keys) {
            while let expiry = expiry(of: scope), expiry <= now { removeFirst(of: scope) }
            if let expiry = expiry(of: scope) { next = min(next, expiry) }
        }
        nextExpiry = next
    }

    /// When the first one of a scope is as old as `lifetime`.
    private func expiry(of scope: CancelRecord.Scope) -> Timestamp? {
        guard let share = shares[scope], let id = share.order.first else { return nil }
        return share.known[id]?.moment.adding(milliseconds: Self.lifetime)
    }

    /// Forgets the one of a scope that came first.
    private mutating func removeFirst(of scope: CancelRecord.Scope) {
        guard let held = shares[scope]?.order.count, let id = shares[scope]?.order.popFirst() else { return }
        shares[scope]?.known[id] = nil
        if held == 1 { shares[scope] = nil }
        ranking.move(scope, from: held, to: held - 1)
        count -= 1
        if let expiry = expiry(of: scope) { nextExpiry = min(nextExpiry, expiry) }
    }
}
