public import HubAuth
import HubREST
public import Intake
import Observability

/// From settings to the worker whose calls a report shows.
extension Settings {
    /// The worker as these settings describe it. A hub that is not set gets names that say so.
    ///
    /// - Throws: The fault of a hub that is set.
    public func workerSketch() throws(HubAuthError) -> WorkerSketch {
        var hubs: [WorkerSketch.Hub] = []
        for settings in allHubs { hubs.append(try sketch(settings)) }
        var sketch = WorkerSketch(hubs, routes: routes)
        sketch.planning = planning()
        return sketch
    }

    private func sketch(_ settings: HubSettings) throws(HubAuthError) -> WorkerSketch.Hub {
        // No call is made, so where no connection string is set, any key will do.
        let text =
            settings.connectionString?.secret
            ?? "Endpoint=https://namespace.servicebus.windows.net/;SharedAccessKeyName=policy;SharedAccessKey=none"
        let connection = try ConnectionString(parsing: text)
        var configuration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName(settings.name ?? "hub"), credential: connection.credential)
        configuration.apiVersion = settings.apiVersion
        configuration.tokenLifetime = settings.tokenLifetime
        var hub = WorkerSketch.Hub(name: settings.routeName, configuration: configuration)
        hub.isStandIn = settings.connectionString == nil
        hub.region = settings.region
        hub.callsAtOnce = worker.loops * settings.maxInFlight
        hub.callsPerSecond = settings.rateLimit
        hub.tracksOutcomes = settings.tracksOutcomes
        return hub
    }
}
