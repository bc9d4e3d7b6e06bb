import Basics
import EventLoop
import HTTPServing
import HubEmulator
import Synchronization

/// An emulated hub that notes when each request's call came.
final class BenchHub: Sendable {
    private let hub: EmulatedHub
    private let server: HTTPServer
    private let address: HTTPServer.Address
    private let arrivals: Arrivals

    /// When the calls came, monotonic nanoseconds, by the request's number.
    private final class Arrivals: Sendable {
        /// Protects the moments; nothing else is locked while it is held.
        private let moments = Mutex<[Int64]>([])

        func expect(_ count: Int) { moments.withLock { $0 = [Int64](repeating: 0, count: count) } }

        func note(_ number: Int, at moment: Int64) {
            moments.withLock { if $0.indices.contains(number) && $0[number] == 0 { $0[number] = moment } }
        }

        var all: [Int64] { moments.withLock { $0 } }
    }

    init() throws {
        var configuration = HubEmulatorConfiguration()
        configuration.hubName = Self.name
        configuration.recording = .off
        let hub = try EmulatedHub(configuration)
        let arrivals = Arrivals()
        server = HTTPServer(HTTPServerConfiguration()) { request in
            let moment = MonotonicTime.now().nanoseconds
            if let tags = request.headers["ServiceBusNotification-Tags"], let number = SampleRequest.number(ofTags: tags) {
                arrivals.note(number, at: moment)
            }
            return hub.handle(request)
        }
        address = try server.start()
        self.hub = hub
        self.arrivals = arrivals
    }

    static let name = "bench"

    /// The connection string of the hub; its key opens emulators only.
    var connectionString: String {
        let policy = HubEmulatorConfiguration.defaultPolicy
        return "Endpoint=http://\(address)/;SharedAccessKeyName=\(policy.name);SharedAccessKey=\(policy.key)"
    }

    /// Begins to note the calls of requests 0 to `count`.
    func expect(_ count: Int) { arrivals.expect(count) }

    /// When each request's first call came, monotonic nanoseconds; 0 for one that did not come.
    var moments: [Int64] { arrivals.all }

    func stop() { server.stop(within: .seconds(1)) }
}
