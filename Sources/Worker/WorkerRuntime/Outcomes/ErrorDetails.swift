import Basics
import CurlHTTP
import EventLoop
import HTTP1
import Outcomes

/// Reads the lists of refused devices that the hub keeps elsewhere, such as in a storage account.
///
/// A link opens its list by a signature of its own, so a request carries no key of ours. Where the hub itself is asked over TLS, so are
/// these.
struct ErrorDetails {
    /// True if anybody wants to know.
    var isWanted = false

    /// Places that connections are kept to.
    private static let maximumPlaces = 4
    /// The number of lists that may wait for a connection at one place. What comes on top is not read.
    private static let maximumWaiting = 64
    /// The bytes of a list, some ten thousand devices. A larger one is not read.
    private static let maximumByteCount = 4 << 20

    private let userAgent: String
    private let poller: Poller
    private let tokenBase: UInt64
    private var pools: [ConnectionPool] = []

    init(_ configuration: WorkerConfiguration, poller: Poller, tokenBase: UInt64) {
        userAgent = "pushfan/\(configuration.version)"
        self.poller = poller
        self.tokenBase = tokenBase
    }

    /// Begins to read a list. `hub` says how connections to the hub are made that has told of it, and `id` comes back with the
    /// completion. Returns false if none is to come, and the list is not read.
    mutating func read(
        _ link: ErrorDetailsLink, like hub: ConnectionPoolConfiguration, id: Int, deadline: MonotonicTime
    ) -> Bool {
        guard let address = WebAddress(link.uri), address.scheme == .https || hub.scheme == .http,
            let pool = pool(for: address, like: hub), pool.waitingExchanges < Self.maximumWaiting
        else { return false }
        let request = "GET \(address.target) HTTP/1.1\r\nHost: \(address.authority)\r\nUser-Agent: \(userAgent)\r\n\r\n"
        pool.submit(id: id, request: Array(request.utf8), deadline: deadline)
        return true
    }

    /// The connections to a place, or nil when there are too many others in use, or none can be made.
    private mutating func pool(for address: WebAddress, like hub: ConnectionPoolConfiguration) -> ConnectionPool? {
        let known = pools.first {
            $0.configuration.scheme == address.scheme && $0.configuration.host == address.host
                && $0.configuration.port == address.port
        }
        if let known { return known }
        var configuration = hub
        configuration.maxConnections = 2
        configuration.limits.bodyByteCount = Self.maximumByteCount
        (configuration.scheme, configuration.host, configuration.port) = (address.scheme, address.host, address.port)
        guard pools.count >= Self.maximumPlaces else {
            return makePool(configuration, at: pools.count).map { pool in
                pools.append(pool)
                return pool
            }
        }
        guard let index = pools.firstIndex(where: { $0.inFlight == 0 }) else { return nil }
        pools[index].close()
        guard let pool = makePool(configuration, at: index) else { return nil }
        pools[index] = pool
        return pool
    }

    private func makePool(_ configuration: ConnectionPoolConfiguration, at index: Int) -> ConnectionPool? {
        try? ConnectionPool(configuration, poller: poller, tokenBase: tokenBase + UInt64(index) << 32)
    }

    /// The moment when `handleTimers` must be called, or nil when nothing waits for time.
    var nextTimer: MonotonicTime? { pools.isEmpty ? nil : pools.compactMap(\.nextTimer).min() }

    func handle(_ event: Poller.Event) {
        for pool in pools where pool.owns(event.token) { pool.handle(event) }
    }

    func handleTimers(_ now: MonotonicTime) {
        for pool in pools { pool.handleTimers(now) }
    }

    func nextCompletion() -> Completion? {
        for pool in pools { if let completion = pool.nextCompletion() { return completion } }
        return nil
    }

    func close() {
        for pool in pools { pool.close() }
    }
}
