/// The orders that were read from the control topic: those that stand, and some that have ended.
///
/// Each tenant has at most `mostOfTenant` holds and limits that stand, and as many cancellations, and those without a tenant have at most
/// `most` of either: further ones are not taken, so that no one can fill the place of others. Of those that have ended the last `mostEnded`
/// are known.
public struct Orders: Sendable {
    /// The effect of a record.
    public enum Reception: Sendable, Equatable {
        /// It is no order, or changes nothing.
        case none
        /// Requests are begun otherwise from now on.
        case change
        /// It cannot be obeyed.
        case faulty(OrderRecord.Fault)
        /// Too many stand.
        case tooMany
    }

    /// The most holds and limits that stand without a tenant in their scope, and the most cancellations beside them.
    public static let most = 1000
    /// The most holds and limits that stand of one tenant, and the most cancellations beside them.
    public static let mostOfTenant = 100
    /// The most tenants that have any.
    public static let mostTenants = 1000
    /// The most of those that have ended that are known.
    public static let mostEnded = 1000
    /// The most by which an order may begin ahead of the present moment, because clocks differ: 1 min in milliseconds.
    public static let mostAhead: Int64 = 60_000

    /// Those that stand, by their tenants, in the order in which they were read. No list is empty.
    private var standing: [String?: [OrderRecord]] = [:]
    /// Those that have ended, in that order.
    private var ended: [OrderRecord] = []
    /// The earliest end of one that stands.
    private var nextEnd = Timestamp.never
    /// The latest moment of a cancellation: what was published later is of no concern to any.
    private var lastCancellation = Timestamp.past
    /// True if any hold or limit stands.
    private var slows = false
    /// The holds that stand, and the latest of their ends.
    private var standingHolds = (list: [OrderRecord](), end: Timestamp.past)
    /// The last `mostEnded` holds that have ended, and the latest of their ends.
    private var endedHolds = (list: [OrderRecord](), end: Timestamp.past)
    /// The number of cancellations that were taken in: another one has come when it has changed.
    public private(set) var cancellationCount = 0
    /// The number of holds and limits that stood here and were released: what waits for their ends must be examined when it has changed.
    public private(set) var releaseCount = 0

    /// No order.
    public init() {}

    /// True if none stands.
    public var isEmpty: Bool { standing.isEmpty }

    /// Takes in a record of the control topic.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - value: Its value.
    ///   - now: The present moment.
    /// - Returns: The effect of the record.
    public mutating func take(key: Span<UInt8>, value: Span<UInt8>?, now: Timestamp) -> Reception {
        do throws(OrderRecord.Fault) {
            guard let order = try OrderRecord.read(key: key, value: value) else { return .none }
            return take(order, now: now)
        } catch {
            return .faulty(error)
        }
    }

    /// Takes in an order, or its release.
    public mutating func take(_ order: OrderRecord, now: Timestamp) -> Reception {
        let tenant = order.scope.tenant
        let place = standing[tenant]?.firstIndex { $0.id == order.id && $0.key == order.key }
        guard order.stands(at: now) else {
            guard let place else {
                if !knowsEnded(order) { noteEnded(order) }
                return .none
            }
            standing[tenant]?.remove(at: place)
            if standing[tenant]?.isEmpty == true { standing[tenant] = nil }
            noteEnded(order)
            noteStanding()
            if order.release != nil { releaseCount += 1 }
            return .change
        }
        guard order.since <= now.adding(milliseconds: Self.mostAhead) else { return .faulty(.end) }
        // An order that was released does not stand again.
        if place != nil || knowsEnded(order) { return .none }
        let equals = standing[tenant]?.count { $0.isCancellation == order.isCancellation } ?? 0
        let isFull =
            equals >= (tenant == nil ? Self.most : Self.mostOfTenant)
            || tenant != nil && standing[tenant] == nil && standing.count > Self.mostTenants
        if isFull { return .tooMany }
        standing[tenant, default: []].append(order)
        if order.isCancellation { cancellationCount += 1 }
        note(order)
        return .change
    }

    private func knowsEnded(_ order: OrderRecord) -> Bool { ended.contains { $0.id == order.id && $0.key == order.key } }

    /// Those that were released before their end count longest: records may wait for it.
    private mutating func noteEnded(_ order: OrderRecord) {
        if ended.count == Self.mostEnded { ended.remove(at: ended.firstIndex { $0.release == nil } ?? 0) }
        ended.append(order)
        guard order.kind == .hold else { return }
        if endedHolds.list.count == Self.mostEnded { endedHolds.list.removeFirst() }
        endedHolds.list.append(order)
        endedHolds.end = max(endedHolds.end, order.end)
    }

    private mutating func noteStanding() {
        (nextEnd, lastCancellation, slows, standingHolds) = (.never, .past, false, ([], .past))
        for order in standing.values.joined() { note(order) }
    }

    private mutating func note(_ order: OrderRecord) {
        nextEnd = min(nextEnd, order.until)
        if order.isCancellation { lastCancellation = max(lastCancellation, order.since) } else { slows = true }
        guard order.kind == .hold else { return }
        standingHolds.list.append(order)
        standingHolds.end = max(standingHolds.end, order.until)
    }

    /// Notes the ends that have come by themselves. Must be called once a second.
    ///
    /// - Returns: Whether any has.
    public mutating func removeEnded(now: Timestamp) -> Bool {
        guard nextEnd <= now else { return false }
        for (tenant, orders) in standing {
            for order in orders where !order.stands(at: now) { noteEnded(order) }
            let left = orders.filter { $0.stands(at: now) }
            standing[tenant] = left.isEmpty ? nil : left
        }
        noteStanding()
        return true
    }

    /// Those that stand, the oldest first.
    public var all: [OrderRecord] { standing.values.joined().sorted { ($0.since, $0.id) < ($1.since, $1.id) } }

    /// Those that stand, and those known that have ended, the newest first.
    public var history: [OrderRecord] { (ended + all).sorted { ($1.since, $1.id) < ($0.since, $0.id) } }

    /// The one with an id, standing or not.
    public func order(_ id: String) -> OrderRecord? {
        standing.values.joined().first { $0.id == id } ?? ended.first { $0.id == id }
    }

    /// The time for which a cancellation counts as young: 10 min in milliseconds.
    private static let youth: Int64 = 600_000

    /// True if a cancellation of the last ten minutes may end what waits.
    public func hasYoungCancellation(now: Timestamp) -> Bool { lastCancellation > now.adding(milliseconds: -Self.youth) }

    /// The moment of the last release of an order whose own end is still to come, or nil.
    public func lastRelease(now: Timestamp) -> Timestamp? {
        ended.lazy.filter { $0.until > now }.compactMap { $0.release?.at }.max()
    }

    /// True if a hold may have stood at a moment: none that is known ended before.
    ///
    /// - Parameter moment: The moment.
    /// - Returns: False if certainly none did, which costs nothing to know.
    public func mayHold(at moment: Timestamp) -> Bool { moment <= max(standingHolds.end, endedHolds.end) }

    /// True if a hold concerned a request at a moment, such as that of its expiry, also one that has ended since.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - hub: The name of the hub that its calls go to, or nil.
    ///   - lane: The word of its lane.
    ///   - moment: The moment.
    /// - Returns: True if a hold stood then.
    public func held(_ request: borrowing PushRequest, hub: String?, lane: String, at moment: Timestamp) -> Bool {
        guard mayHold(at: moment) else { return false }
        return [standingHolds.list, endedHolds.list].contains { holds in
            for order in holds where order.stood(at: moment) && order.scope.concerns(request, hub: hub, lane: lane) {
                return true
            }
            return false
        }
    }

    /// True if nothing may be asked of a hub: a hold concerns all that goes to it.
    ///
    /// - Parameters:
    ///   - hub: The hub's name.
    ///   - now: The present moment.
    /// - Returns: True if such a hold stands.
    public func holds(hub: String, now: Timestamp) -> Bool {
        guard slows else { return false }
        var whole = OrderScope()
        whole.hub = hub
        return standing[nil]?.contains { $0.kind == .hold && $0.stands(at: now) && ($0.scope == whole || $0.scope.isEverything) }
            ?? false
    }

    /// True if a hold or a limit stands.
    public var slowsRequests: Bool { slows }

    /// True if a cancellation stands.
    public var cancelsRequests: Bool { lastCancellation > .past }

    /// The hold that concerns a request: of those that do, the one that ends last.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - hub: The name of the hub that its calls go to, or nil.
    ///   - lane: The word of its lane.
    ///   - now: The present moment.
    /// - Returns: The hold, or nil for none.
    public func hold(of request: borrowing PushRequest, hub: String?, lane: String, now: Timestamp) -> OrderRecord? {
        guard slows else { return nil }
        return last(of: request) { order, request in
            order.kind == .hold && order.stands(at: now) && order.scope.concerns(request, hub: hub, lane: lane)
        }
    }

    /// The limits that concern a request.
    public func limits(of request: borrowing PushRequest, hub: String?, lane: String, now: Timestamp) -> [OrderRecord] {
        guard slows else { return [] }
        var found: [OrderRecord] = []
        _ = last(of: request) { order, request in
            if case .limit = order.kind, order.stands(at: now), order.scope.concerns(request, hub: hub, lane: lane) {
                found.append(order)
            }
            return false
        }
        return found
    }

    /// The cancellation that concerns a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - published: The moment of its publication, of a part that of the whole.
    ///   - hub: The name of the hub that its calls go to, or nil where that is not known.
    ///   - lane: The word of its lane.
    /// - Returns: The cancellation, or nil for none.
    public func cancellation(of request: borrowing PushRequest, published: Timestamp, hub: String?, lane: String) -> OrderRecord?
    {
        guard published <= lastCancellation else { return nil }
        return last(of: request) { order, request in
            guard case .cancel(let from) = order.kind, published <= order.since, from.map({ $0 <= published }) ?? true else {
                return false
            }
            return order.scope.concerns(request, hub: hub, lane: lane)
        }
    }

    /// Of those that may concern a request by their tenant, the one that is wanted and ends last.
    private func last(
        of request: borrowing PushRequest, where isWanted: (OrderRecord, borrowing PushRequest) -> Bool
    ) -> OrderRecord? {
        var found: OrderRecord?
        for order in standing[nil] ?? [] where order.until > found?.until ?? .past && isWanted(order, request) { found = order }
        guard let tenant = request.tenant, standing.count > (standing[nil] == nil ? 0 : 1) else { return found }
        for order in standing[request.document.string(tenant)] ?? []
        where order.until > found?.until ?? .past && isWanted(order, request) {
            found = order
        }
        return found
    }
}
