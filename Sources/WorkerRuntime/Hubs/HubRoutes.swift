import Delivery
import FanOut

/// Where the names of a configuration lead; a hub's number is its place in the configuration's list.
struct HubRoutes {
    /// A name that stands for several hubs.
    struct Spread {
        let name: String
        let hubs: HubSpread
        /// The numbers of its hubs, in the order of `hubs`.
        let numbers: [Int]
    }

    let router: HubRouter
    let spreads: [Spread]

    /// The routes of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The names; a hub of a spread that there is not is left out.
    ///   - numbers: The number of each hub, where it is not its place.
    init(_ configuration: WorkerConfiguration, numbers: [Int]? = nil) {
        let hubs = zip(configuration.hubs.map(\.name), numbers ?? Array(configuration.hubs.indices))
        let byName = Dictionary(hubs.map { ($0, $1) }) { first, _ in first }
        spreads = configuration.spreads.map { spread in
            let known = spread.hubs.filter { byName[$0] != nil }
            return Spread(name: spread.name, hubs: HubSpread(known), numbers: known.compactMap { byName[$0] })
        }.filter { !$0.numbers.isEmpty }
        router = HubRouter(
            hubs.map { ($0, .hub($1)) } + spreads.enumerated().map { ($1.name, .spread($0)) },
            tenants: configuration.tenantHubs, defaultName: configuration.defaultHub)
    }
}
