import Basics
public import CurlHTTP
import HubAuth
public import HubREST
import PushModel

extension WorkerConfiguration {
    /// One hub, and how it is used.
    public struct Hub: Sendable, Equatable {
        /// Its name in requests, results and metrics. Default its name in the path.
        public var name: String
        /// Its address and key.
        public var hub: HubConfiguration
        /// Connections to it.
        public var connections: ConnectionPoolConfiguration
        /// The place where it is, for people. Nil when not set.
        public var region: String?
        /// The time that one call may take, waiting for a connection included. Default 30 s.
        public var requestTimeout = Duration.seconds(30)
        /// Calls to it that one loop may have in flight at once, 1–4,096, default 64.
        public var maxInFlight = 64
        /// True if fewer calls are in flight when it gets slow or loses them. Default yes.
        public var adaptsConcurrency = true
        /// Calls per second that all workers together may make to it, up to 1,000,000. Default 0, as many as there are.
        public var rateLimit = 0
        /// True if the outcome of calls is followed whose requests do not say. Default no.
        public var tracksOutcomes = false

        /// A hub with the defaults.
        public init(_ hub: HubConfiguration, connections: ConnectionPoolConfiguration) {
            name = hub.hub.text
            self.hub = hub
            self.connections = connections
        }
    }

    /// A name that stands for several hubs: each user is one hub's, and what is for no user goes to all of them.
    public struct Spread: Sendable, Equatable {
        /// The name in requests.
        public var name: String
        /// The names of its hubs, at least one, each once.
        public var hubs: [String]

        /// A spread over hubs.
        public init(name: String, hubs: [String]) {
            self.name = name
            self.hubs = hubs
        }
    }

    /// The destinations of the names. `numbers` has the number of each hub where it is not its place.
    func routes(numbers: [Int]? = nil, since start: MonotonicTime) -> HubRoutes {
        var routes = HubRoutes(
            hubs: Array(zip(hubs.map(\.name), numbers ?? Array(hubs.indices))), spreads: spreads.map { ($0.name, $0.hubs) },
            tenants: tenantHubs, defaultName: defaultHub)
        routes.settledAt = start.advanced(by: settlingTime)
        return routes
    }

    /// Takes over what other settings say of hubs.
    mutating func takeHubs(of new: WorkerConfiguration) {
        hubs = new.hubs
        spreads = new.spreads
        defaultHub = new.defaultHub
        tenantHubs = new.tenantHubs
    }

    /// The name of the hub, or the spread, that a request went to which was sent in parts. Nil when it has none.
    func hubName(of parent: ParentRecord) -> String? { parent.hub ?? parent.tenant.flatMap { tenantHubs[$0] } ?? defaultHub }

    /// The interval at which the worker hears of rebalances. Whoever heard of one does nothing until all have, and in that time a
    /// fleet with a rate would not use it. Without one, it is not worth four requests a second of an idle worker.
    var heartbeatInterval: Duration { hubs.contains { $0.rateLimit > 0 } ? .milliseconds(250) : .seconds(3) }

    /// The first hub's name in results, metrics and requests. The default hub's goes with it.
    public var hubName: String {
        get { hubs[0].name }
        set {
            if defaultHub == hubs[0].name { defaultHub = newValue }
            hubs[0].name = newValue
        }
    }
}
