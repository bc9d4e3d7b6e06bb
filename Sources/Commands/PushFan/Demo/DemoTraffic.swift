import CurlHTTP
import Dispatch
import HTTPServing
import HubAuth
import HubEmulator
import HubREST
import WorkerRuntime

/// Keeps the stage alive after the scenes: a second hub that is out for a minute, and a few requests each second to both.
final class DemoTraffic {
    private static let hubName = "south"
    /// The time between two requests.
    private static let pause = DispatchTimeInterval.milliseconds(250)
    /// The users of both hubs.
    private static let users = ["alice", "bob", "dan"]

    private let stage: DemoStage
    private let hub: EmulatedHub
    private var count = 0

    /// Adds the hub to the stage's worker. Its first call begins the minute.
    init(stage: DemoStage) throws {
        self.stage = stage
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        hub = try EmulatedHub(emulator)
        _ = try hub.start()
        for device in DemoDevice.all { try hub.register(device.emulated) }
        hub.arm([try Fault(parsing: "outage=1m,status=503")])
        let connection = try ConnectionString(parsing: hub.connectionString)
        let configuration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        var added = WorkerConfiguration.Hub(
            configuration,
            connections: ConnectionPoolConfiguration(
                scheme: .http, host: connection.endpoint.host, port: UInt16(clamping: connection.endpoint.effectivePort)))
        added.name = Self.hubName
        try stage.worker.add(added)
    }

    /// The hub's own pages.
    var hubURL: String { "http://\(hub.address.map(\.description) ?? "")" }

    /// Publishes requests until `ended` is signalled. Every fourth goes to the second hub, and may try only once.
    func play(until ended: DispatchSemaphore) throws {
        while ended.wait(timeout: .now() + Self.pause) == .timedOut {
            count += 1
            // Each partition gets requests of both hubs.
            try stage.publish([Self.request(count)], from: count + count / 4)
        }
    }

    func close() { hub.stop() }

    private static func request(_ number: Int) -> String {
        let user = users[number % users.count]
        let route = number % 4 == 0 ? #""hub":"\#(hubName)","options":{"max_attempts":1},"# : ""
        return #"{"schema_version":1,"id":"parcel-\#(number)","source":"/demo","audience":{"users":["\#(user)"]},\#(route)"#
            + #""message":{"title":"Parcel \#(number)","body":"It is on its way"}}"#
    }
}
