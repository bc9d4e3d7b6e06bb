import Basics
import EventLoop
import HTTPServing
import HubEmulator
import HubServer
import Synchronization

/// An emulated hub that notes when each request's call came.
final class BenchHub: Sendable {
    private let hub: EmulatedHub
    private let server: HTTPServer
    private let address: HTTPServer.Address
    private let arrivals: Arrivals

    /// The moments of the calls, monotonic nanoseconds, in the order of the requests' numbers.
    private final class Arrivals: Sendable {
        /// Protects the numbers and their moments. Nothing else is locked while it is held.
        private let expected = Mutex<(numbers: Range<Int>, moments: [Int64])>((0..<0, []))

        func expect(_ numbers: Range<Int>) {
            expected.withLock { $0 = (numbers, [Int64](repeating: 0, count: numbers.count)) }
        }

        func note(_ number: Int, at moment: Int64) {
            expected.withLock {
                guard $0.numbers.contains(number) else { return }
                let index = number - $0.numbers.lowerBound
                if $0.moments[index] == 0 { $0.moments[index] = moment }
            }
        }

        var all: [Int64] { expected.withLock { $0.moments } }
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

    /// Begins to note the calls of these requests.
    func expect(_ numbers: Range<Int>) { arrivals.expect(numbers) }

    /// The moment of each expected request's first call, monotonic nanoseconds, or 0 for one that did not come.
    var moments: [Int64] { arrivals.all }

    func stop() { server.stop(within: .seconds(1)) }
}
