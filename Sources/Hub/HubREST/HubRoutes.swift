public import Basics
public import Delivery
public import FanOut
public import PushModel

/// The destinations of the names of hubs and spreads.
public struct HubRoutes: Sendable {
    /// A name that stands for several hubs.
    public struct Spread: Sendable {
        /// The name.
        public let name: String
        /// Tells which of them a user's is.
        public let hubs: HubSpread
        /// The numbers of its hubs, in the order of `hubs`.
        public let numbers: [Int]
    }

    /// The destination of a request.
    public enum Route: Sendable, Equatable {
        /// To the hub of that number.
        case hub(Int)
        /// In parts, to several hubs of the spread of that number.
        case parts(Int)
    }

    /// Tells where a name leads.
    public let router: HubRouter
    /// The spreads, by number.
    public let spreads: [Spread]
    /// Until when a name that is not known is taken for a mistake in new settings. Default long ago.
    public var settledAt = MonotonicTime.past

    /// True while the routes are so new that a name they lack may be there soon.
    public func isSettling(_ now: MonotonicTime) -> Bool { now < settledAt }

    /// Routes by names.
    ///
    /// - Parameters:
    ///   - hubs: The names of the hubs, each once, and their numbers.
    ///   - spreads: Names that stand for several hubs; one that there is not is left out.
    ///   - tenants: The name for each tenant that has one.
    ///   - defaultName: The name for all other requests that name none; nil to refuse them.
    public init(
        hubs: [(name: String, number: Int)], spreads: [(name: String, hubs: [String])] = [], tenants: [String: String] = [:],
        defaultName: String?
    ) {
        let byName = Dictionary(hubs.map { ($0.name, $0.number) }) { first, _ in first }
        self.spreads = spreads.map { spread in
            let known = spread.hubs.filter { byName[$0] != nil }
            return Spread(name: spread.name, hubs: HubSpread(known), numbers: known.compactMap { byName[$0] })
        }.filter { !$0.numbers.isEmpty }
        router = HubRouter(
            hubs.map { ($0.name, .hub($0.number)) } + self.spreads.enumerated().map { ($1.name, .spread($0)) },
            tenants: tenants, defaultName: defaultName)
    }

    /// Says who may reach a hub by its name: no name takes a tenant's request where those without one do not go.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - name: The name of a hub or a spread.
    /// - Returns: True if the tenant's requests that name none go there, or to a spread that it is part of.
    public func lead(_ tenant: TenantID, to name: String) -> Bool {
        guard let own = try? router.route(of: tenant), let named = router.route(named: name) else { return false }
        if case .spread(let number) = own, case .hub(let hub) = named { return spreads[number].numbers.contains(hub) }
        return own == named
    }

    /// Says whose devices a hub has: true if no other tenant's requests go to a hub that this tenant's go to, and none of those without a
    /// tenant.
    public func isOwn(of tenant: TenantID) -> Bool {
        guard router.hasRule(for: tenant), let own = try? router.route(of: tenant) else { return false }
        let hubs = numbers(of: own)
        let others = router.routes(besides: tenant)
        return others.allSatisfy { hubs.isDisjoint(with: numbers(of: $0)) }
    }

    /// The hubs that a device can be at together: those that spreads tie to a hub, also by way of others, and the hub itself.
    ///
    /// - Parameter number: The hub's number.
    /// - Returns: The numbers, in ascending order.
    public func hubs(tiedTo number: Int) -> [Int] {
        var (tied, count): (Set<Int>, Int) = ([number], 0)
        while tied.count > count {
            count = tied.count
            for spread in spreads where !tied.isDisjoint(with: spread.numbers) { tied.formUnion(spread.numbers) }
        }
        return tied.sorted()
    }

    private func numbers(of route: HubRouter.Route) -> Set<Int> {
        switch route {
        case .hub(let number): [number]
        case .spread(let number): Set(spreads[number].numbers)
        }
    }

    /// The way of a request. One for the users of one hub is that hub's.
    ///
    /// - Throws: Why it has none.
    public func route(of request: borrowing PushRequest, tenant: TenantID) throws(HubRouter.Fault) -> Route {
        switch try router.route(of: request, tenant: tenant) {
        case .hub(let number): return .hub(number)
        case .spread(let number):
            guard let only = spreads[number].hubs.onlyHub(of: request) else { return .parts(number) }
            return .hub(spreads[number].numbers[only])
        }
    }
}
