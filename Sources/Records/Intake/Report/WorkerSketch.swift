public import FanOut
public import HubREST

/// The worker whose calls a report shows, as settings describe it.
public struct WorkerSketch: Sendable {
    /// One of its hubs.
    public struct Hub: Sendable {
        /// The name that requests have for it, or nil for the only hub, which needs none.
        public var name: String?
        /// Its address and key.
        public var configuration: HubConfiguration
        /// The region of the hub, as settings name it, or nil for none.
        public var region: String?
        /// Calls that one worker has in flight at once, from 1. Default 64.
        public var callsAtOnce = 64
        /// Calls that all workers together may start in a second, or 0, the default, for no limit.
        public var callsPerSecond = 0
        /// True if outcomes are tracked of requests that do not say. Nil where that is not known.
        public var tracksOutcomes: Bool?
        /// True if address and key only stand for others, which are not set.
        public var isStandIn = false

        /// A hub with the defaults.
        public init(name: String?, configuration: HubConfiguration) {
            self.name = name
            self.configuration = configuration
        }
    }

    /// The configuration of the planner. The defaults are those of workers.
    public var planning = FanOutPlanner.Configuration()
    /// The targets of the names of hubs.
    public var routes: HubRoutes
    /// Its hubs by number, at least one.
    public var hubs: [Hub]

    /// True if each of its hubs has a name and an address of its own.
    public var isWhole: Bool { hubs.allSatisfy { $0.name != nil && !$0.isStandIn } }

    /// A worker that plans by the defaults.
    public init(_ hubs: [Hub], routes: HubRoutes) {
        self.hubs = hubs
        self.routes = routes
    }

    /// A worker for one hub, which gets every request that names it or no hub.
    public init(only hub: Hub) {
        self.init([hub], routes: HubRoutes(hubs: hub.name.map { [($0, 0)] } ?? [], defaultName: hub.name))
    }
}
