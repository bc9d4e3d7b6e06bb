@testable import DeviceHubs
import CurlHTTP
import GatewayAPI
import HubAuth
import HubREST
import Kafka
import Observability

/// The hubs of a gateway, whose threads do not run. None of them is there.
func deviceHubs(_ names: [String], routes: HubRoutes, laneLimit: Int = HubLanes.limit) throws -> DeviceHubs {
    let text = "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=n;SharedAccessKey=key"
    let connection = try ConnectionString(parsing: text)
    let hubs = try names.map { name in
        GatewayConfiguration.Hub(
            name: name,
            configuration: HubConfiguration(
                endpoint: connection.endpoint, hub: try HubName(name), credential: connection.credential),
            connections: ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: 1))
    }
    var configuration = GatewayConfiguration(
        version: "test", hubName: names[0], hub: hubs[0].configuration, connections: hubs[0].connections,
        kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"))
    (configuration.otherHubs, configuration.routes) = (Array(hubs.dropFirst()), routes)
    let metrics = GatewayMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
    return try DeviceHubs(
        configuration, laneLimit: laneLimit, services: GatewayServices(metrics: metrics, log: .silent, health: Health()))
}
