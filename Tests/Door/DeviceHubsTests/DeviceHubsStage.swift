@testable import DeviceHubs
import CurlHTTP
import GatewayAPI
import HubAuth
import HubREST
import Kafka
import Observability

/// A hub that is not there.
func hub(_ name: String, policy: String = "n", key: String = "key") throws -> GatewayConfiguration.Hub {
    let text = "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=\(policy);SharedAccessKey=\(key)"
    let connection = try ConnectionString(parsing: text)
    let configuration = HubConfiguration(
        endpoint: connection.endpoint, hub: try HubName(name), credential: connection.credential)
    return GatewayConfiguration.Hub(
        name: name, configuration: configuration,
        connections: ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: 1))
}

/// The hubs of a gateway, whose threads do not run. None of them is there.
func deviceHubs(
    _ names: [String], routes: HubRoutes, tenancy: HubRoutes? = nil, laneLimit: Int = HubLanes.limit, log: Log = .silent
) throws -> DeviceHubs {
    let hubs = try names.map { try hub($0) }
    var configuration = GatewayConfiguration(
        version: "test", hubName: names[0], hub: hubs[0].configuration, connections: hubs[0].connections,
        kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"))
    (configuration.otherHubs, configuration.routes) = (Array(hubs.dropFirst()), routes)
    configuration.tenancy = tenancy
    let metrics = GatewayMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
    return try DeviceHubs(
        configuration, laneLimit: laneLimit, services: GatewayServices(metrics: metrics, log: log, health: Health()))
}
