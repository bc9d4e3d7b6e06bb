import CurlHTTP
import Foundation
import HubAuth
import HubEmulator
import HubREST
import Testing
import WorkerRuntime

/// A hub beside that of a bench.
final class FurtherHub {
    let name: String
    let hub: EmulatedHub

    init(_ name: String) throws {
        self.name = name
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        configuration.hubName = name
        hub = try EmulatedHub(configuration)
        _ = try hub.start()
    }

    deinit { hub.stop() }

    /// What a worker is told of it.
    func settings(_ change: (inout WorkerConfiguration.Hub) -> Void = { _ in }) throws -> WorkerConfiguration.Hub {
        let connection = try ConnectionString(parsing: hub.connectionString)
        let port = try #require(UInt16(exactly: connection.endpoint.effectivePort))
        var connections = ConnectionPoolConfiguration(scheme: .http, host: connection.endpoint.host, port: port)
        connections.maxConnections = 64
        var settings = WorkerConfiguration.Hub(
            HubConfiguration(endpoint: connection.endpoint, hub: try HubName(name), credential: connection.credential),
            connections: connections)
        change(&settings)
        return settings
    }

    /// The tags of the calls that it got.
    var tags: [String] { hub.calls().compactMap(\.tags) }
}

extension FinalResult {
    var hub: String { self["hub"] ?? "" }
}
