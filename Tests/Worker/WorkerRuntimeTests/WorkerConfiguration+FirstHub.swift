import CurlHTTP
import HubREST
import WorkerRuntime

/// The settings of the first hub, which most tests have alone.
extension WorkerConfiguration {
    /// The first hub.
    var hub: HubConfiguration {
        get { hubs[0].hub }
        set { hubs[0].hub = newValue }
    }

    /// Connections to the first hub.
    var connections: ConnectionPoolConfiguration {
        get { hubs[0].connections }
        set { hubs[0].connections = newValue }
    }

    /// The time that one call to the first hub may take.
    var requestTimeout: Duration {
        get { hubs[0].requestTimeout }
        set { hubs[0].requestTimeout = newValue }
    }

    /// Calls to the first hub that one loop may have in flight at once.
    var maxInFlight: Int {
        get { hubs[0].maxInFlight }
        set { hubs[0].maxInFlight = newValue }
    }

    /// Calls per second that all workers together may make to the first hub.
    var rateLimit: Int {
        get { hubs[0].rateLimit }
        set { hubs[0].rateLimit = newValue }
    }

    /// True if the outcome of the first hub's calls is followed whose requests do not say.
    var tracksOutcomes: Bool {
        get { hubs[0].tracksOutcomes }
        set { hubs[0].tracksOutcomes = newValue }
    }
}
