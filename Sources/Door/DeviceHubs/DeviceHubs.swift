import Delivery
import Dispatch
package import FanOut
package import GatewayAPI
import HubREST
import Observability

/// The hubs that the gateway registers devices at.
package final class DeviceHubs: Sendable {
    /// One of them, as the way to it leads.
    package struct Hub: Sendable {
        /// The name, as requests have it.
        package let name: String
        /// Lanes whose work is done at this hub. Where it is the home of a spread, devices are looked for at all hubs of the spread. Work
        /// that is put for an installation's id is never done at the same time as other work for it, whichever hub or party that is for.
        package let lanes: HubLanes
        package let watch: HubWatch
    }

    /// An id that no device has, for asking a hub how it is.
    private static let nobody = "pushfan-gateway-readiness"

    /// All of them, the default or the first of the default spread in front.
    package let hubs: [Hub]
    private let seats: [HubSeat]
    /// By hub, the lanes of all hubs that a device of this one can be at, too: whichever way leads to a device, its id has one lane.
    private let lanes: [HubLanes]
    private let (routes, tenancy): (HubRoutes, HubRoutes)
    private let services: GatewayServices

    /// Makes the hubs of a configuration, whose threads do not run yet. It fails for settings with which one cannot be called.
    package init(
        _ configuration: GatewayConfiguration, laneLimit: Int = HubLanes.limit, services: GatewayServices
    ) throws(GatewayFailure) {
        let all = configuration.hubs
        let refusals = KeyRefusals(services.metrics.hubKeyRefused)
        let memory = DeviceMemory(now: services.now)
        let seats = all.map { hub in
            let watch = HubWatch(services, hub: all.count > 1 ? hub.name : nil, refusals: refusals)
            let pacer = HubPacer(rate: configuration.deviceRate)
            return HubSeat(hub, version: configuration.version, watch: watch, pacer: pacer, memory: memory)
        }
        do {
            hubs = try seats.indices.map { number in
                let count = HubLanes.count(of: all.count)
                let lanes = try HubLanes(count: count, limit: laneLimit, home: number, now: services.now) {
                    try HubCaller(seats, home: number, services: services)
                }
                return Hub(name: seats[number].name, lanes: lanes, watch: seats[number].watch)
            }
        } catch {
            throw GatewayFailure.configuration("the hub cannot be called with these settings: \(error)")
        }
        (self.seats, self.services) = (seats, services)
        (routes, tenancy) = (configuration.routes, configuration.tenancy ?? configuration.routes)
        lanes = seats.indices.map { [hubs, routes] in HubLanes(of: routes.hubs(tiedTo: $0).map { hubs[$0].lanes }) }
    }

    /// The connections to hubs that the lanes of a configuration's hubs may have: each lane has one to each hub that its devices can be at.
    package static func lineCount(of configuration: GatewayConfiguration) -> Int {
        let count = HubLanes.count(of: configuration.hubs.count)
        return configuration.hubs.indices.reduce(0) { $0 + count * configuration.routes.hubs(tiedTo: $1).count }
    }

    /// The hub of a user's devices, or of a device without a user: that of the spread or hub by its name, else of the tenant, else the
    /// default.
    ///
    /// - Parameters:
    ///   - user: The user, or nil for a device that has none.
    ///   - id: The installation, whose calls keep their order.
    ///   - named: The name of a hub or a spread, or nil for the one of requests that name none.
    ///   - party: Who asks.
    /// - Returns: The hub, with the lanes for calls on the installation.
    /// - Throws: 404 for a name that no hub has, and 403 for a hub that is not the party's alone.
    package func home(
        of user: UserTag?, id: String, named: String? = nil, for party: DeviceParty
    ) throws(APIProblem) -> Hub {
        let route = try route(to: named, for: party)
        switch route {
        case .hub(let number): return hub(at: HubReach(home: number), for: party)
        case .spread(let number):
            let spread = routes.spreads[number]
            let home = spread.number(of: user?.address ?? id)
            return hub(at: HubReach(home: home, of: user, spread: spread), for: party)
        }
    }

    /// All hubs at which the devices of a user or a handle can be: those of the spread, or the one. Work on the lanes of each is done at
    /// that hub alone.
    package func candidates(named: String? = nil, for party: DeviceParty) throws(APIProblem) -> [Hub] {
        switch try route(to: named, for: party) {
        case .hub(let number): [hub(at: HubReach(home: number), for: party)]
        case .spread(let number): routes.spreads[number].numbers.map { hub(at: HubReach(home: $0), for: party) }
        }
    }

    /// True if no other tenant's requests go to a hub of this tenant's, and none of those without a tenant. Hubs that are not served count.
    package func isOwn(of tenant: String) -> Bool { tenancy.isOwn(of: TenantID(tenant)) }

    /// Starts the threads.
    package func start() {
        for hub in hubs { hub.lanes.start() }
    }

    /// Ends the threads, and waits a second for the calls in flight. Work that waits is dropped.
    package func stop() {
        for seat in seats { seat.pacer.stop() }
        for hub in hubs { hub.lanes.close() }
        let deadline = DispatchTime.now() + .seconds(1)
        for hub in hubs { hub.lanes.stop(until: deadline) }
    }

    /// Asks the hubs how they are, unless the last call has told that one is well. Waits for nothing.
    package func probe() {
        for hub in hubs where hub.watch.beginProbe() {
            let watch = hub.watch
            let isPut = hub.lanes.put(for: Self.nobody) { caller in
                // The caller notes how it ends.
                _ = try? caller.perform(.getInstallation(id: Self.nobody))
                watch.endProbe()
            }
            if !isPut { watch.endProbe() }
        }
    }

    /// Forgets devices that were written a minute ago.
    package func trimMemory() {
        // All hubs have one memory.
        seats.first?.memory.trim()
    }

    /// Logs which hubs have not answered yet.
    package func noteSilence() {
        for hub in hubs { hub.watch.noteSilence() }
    }

    /// Signs with other keys of the hubs from now on, and says so in the log.
    ///
    /// - Parameter new: The hubs, with the keys. One that is another than at the start is not taken, and the log says so.
    package func renewKeys(by new: [GatewayConfiguration.Hub]) {
        var isOther = new.count != seats.count
        for seat in seats {
            guard let hub = new.first(where: { $0.name == seat.name }) else {
                isOther = true
                continue
            }
            switch seat.renewKeys(by: hub.configuration) {
            case .taken: services.log.info(.configurationLoaded, "the hub's new keys are used", [.hub: .string(seat.name)])
            case .unchanged: break
            case .otherHub: isOther = true
            }
        }
        guard isOther else { return }
        services.log.warning(
            .configurationDoubtful, "the hub's address, name, policy or other settings have changed: a restart takes them")
    }

    private func hub(at reach: HubReach, for party: DeviceParty) -> Hub {
        let hub = hubs[reach.home]
        return Hub(name: hub.name, lanes: lanes[reach.home].lanes(to: reach, for: party.claimant), watch: hub.watch)
    }

    private func route(to name: String?, for party: DeviceParty) throws(APIProblem) -> HubRouter.Route {
        if let tenant = party.tenant {
            guard isOwn(of: tenant) else { throw .sharedHub }
            guard name.map({ routes.lead(TenantID(tenant), to: $0) }) ?? true else { throw .foreignHub }
        }
        guard let name else {
            do throws(HubRouter.Fault) {
                return try routes.router.route(of: party.tenant.map { TenantID($0) } ?? .none)
            } catch {
                throw .unknownHub
            }
        }
        guard let route = routes.router.route(named: name) else { throw .unknownHub }
        // A user has no say in where devices are, not even within the default spread.
        if case .user = party, route != (try? routes.router.route(of: .none)) { throw .unknownHub }
        return route
    }
}

extension APIProblem {
    /// 404: no hub and no spread has the name.
    static let unknownHub = APIProblem(
        404, code: .notFound, detail: "No hub and no spread of this gateway has the name, or none is the default.")

    /// 403: the devices of a hub that several tenants have are not divided by tenants.
    static let sharedHub = APIProblem(
        403, code: .forbiddenTenant,
        detail: "The devices of a hub are not divided by tenants, and the hub of the key's tenant serves others, too.")

    /// 403: the name is of a hub that is not the tenant's.
    static let foreignHub = APIProblem(
        403, code: .forbiddenTenant, detail: "The call names another hub than the one of the key's tenant. Leave hub out.")
}
