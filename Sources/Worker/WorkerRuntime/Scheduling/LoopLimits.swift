import Basics
import Delivery
import PushModel

/// A loop's part of the limits that orders set, and its calls that wait for those that concern more than a hub.
///
/// Belongs to the loop's thread.
final class LoopLimits {
    /// The partitions of requests that a loop has, and all that there are.
    struct Part: Equatable {
        var owned = 0
        var all: Int
    }

    /// A limit of a hub that an order sets.
    struct HubRate: Equatable {
        var order: String
        var callsPerSecond: Int
    }

    /// The loop's part. Until an assignment has counted them, all are as many as when the worker started.
    private(set) var part: Part
    /// The limits of more than a hub, and what waits for them.
    var waiting = OrderLimits<WaitingCall>()
    /// True while a call is begun that has its tokens.
    var isReleasing = false
    /// The lowest limit of each hub, and of every hub.
    private var hubRates: [String: HubRate] = [:]
    private var commonRate: HubRate?

    /// No limits.
    init(partitionCount: Int) { part = Part(all: partitionCount) }

    /// True if any limit stands that concerns more than a hub.
    var isUsed: Bool { !waiting.isEmpty }

    /// Takes in how many partitions of requests the loop has, and how many there are, as far as that is known.
    func owns(_ count: Int, of all: Int?) { part = Part(owned: count, all: max(all ?? part.all, count)) }

    /// Takes in the orders that stand.
    ///
    /// One for everything is a limit of each hub. Among several hubs it is a limit of all their calls together as well.
    func take(_ orders: [OrderRecord], areHubsSeveral: Bool, now: MonotonicTime) {
        var rates: [String: Int] = [:]
        (hubRates, commonRate) = ([:], nil)
        for order in orders {
            guard case .limit(let rate) = order.kind else { continue }
            if order.scope.isEverything {
                commonRate = Self.lower(commonRate, or: .init(order: order.id, callsPerSecond: rate))
                guard areHubsSeveral else { continue }
            } else if let hub = order.scope.hub, order.scope == OrderScope(hub: hub) {
                hubRates[hub] = Self.lower(hubRates[hub], or: .init(order: order.id, callsPerSecond: rate))
                continue
            }
            rates[order.id] = min(rates[order.id] ?? rate, rate)
        }
        waiting.set(rates, owned: part.owned, of: part.all, now: now)
    }

    /// The lowest limit that orders set for a hub, or nil without any.
    func rate(ofHub name: String) -> HubRate? { commonRate.map { Self.lower(hubRates[name], or: $0) } ?? hubRates[name] }

    private static func lower(_ known: HubRate?, or other: HubRate) -> HubRate {
        known.map { $0.callsPerSecond <= other.callsPerSecond ? $0 : other } ?? other
    }

    /// The line in which a call at the hub of a number waits that some orders concern, or nil if none of them is a limit of more than a hub.
    func line(of flight: Flight, at hub: Int, among orders: [OrderRecord]) -> LimitedLine? {
        let ids = Set(orders.map(\.id).filter(waiting.contains))
        return ids.isEmpty ? nil : LimitedLine(hub: hub, lane: flight.route.lane.rawValue, orders: ids.sorted())
    }
}

extension OrderScope {
    fileprivate init(hub: String) {
        self.init()
        self.hub = hub
    }
}
