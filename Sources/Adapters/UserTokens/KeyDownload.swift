import Basics
import CurlHTTP
import EventLoop
import HTTP1
import Tokens

/// Reads a set of keys from an address, on the calling thread.
struct KeyDownload: Sendable {
    /// The time for a read, with connecting.
    private static let limit: Duration = .seconds(10)
    /// Tokens of a `Poller` before this one are the caller's.
    static let firstToken: UInt64 = 1 << 32

    private let connections: ConnectionPoolConfiguration
    private let request: [UInt8]

    /// A download that has not begun. Throws `.address` or `.connection`.
    init(_ url: String, like configuration: TokenVerifier.Configuration) throws(TokenVerifier.Problem) {
        guard let address = WebAddress(url) else { throw .address }
        guard address.scheme == .https || address.isLoopback else { throw .address }
        var connections = ConnectionPoolConfiguration(scheme: address.scheme, host: address.host, port: address.port)
        (connections.maxConnections, connections.caFile) = (1, configuration.authorityFile)
        connections.limits.bodyByteCount = KeySet.maximumByteCount
        connections.environment = configuration.environment
        self.connections = connections
        var request: [UInt8] = []
        do throws(RequestHead.Fault) {
            try RequestHead.begin(method: "GET", target: address.target.utf8, host: address.authority, into: &request)
            try RequestHead.field("User-Agent", value: "pushfan", into: &request)
            try RequestHead.field("Accept", value: "application/jwk-set+json, application/json", into: &request)
            request += "Connection: close\r\n\r\n".utf8
        } catch {
            throw .address
        }
        self.request = request
        do { _ = try pool(Poller()) } catch { throw .connection(reason: "\(error)") }
    }

    /// Reads the set. Each read opens a connection of its own, so that names, authorities and addresses are looked up again.
    ///
    /// - Parameters:
    ///   - poller: Watches the connection.
    ///   - isCancelled: Asked whenever the poller reports something.
    /// - Returns: The set.
    /// - Throws: The reason.
    func read(_ poller: Poller, isCancelled: () -> Bool) throws(TokenKeySource.Failure) -> KeySet {
        let answer: Answer
        do {
            let pool = try pool(poller)
            defer { pool.close() }
            answer = try exchange(on: pool, poller: poller, isCancelled: isCancelled)
        } catch {
            throw (error as? TokenKeySource.Failure) ?? TokenKeySource.Failure(reason: "\(error)")
        }
        guard answer.status == 200 else { throw TokenKeySource.Failure(reason: "the address answers \(answer.status)") }
        do { return try KeySet(Array(answer.bytes[answer.bodyRange])) } catch {
            throw TokenKeySource.Failure(reason: error.description)
        }
    }

    private func pool(_ poller: Poller) throws(ConnectionPool.SetupFailure) -> ConnectionPool {
        try ConnectionPool(connections, poller: poller, tokenBase: Self.firstToken)
    }

    private func exchange(on pool: ConnectionPool, poller: Poller, isCancelled: () -> Bool) throws -> Answer {
        let deadline = MonotonicTime.now().advanced(by: Self.limit)
        pool.submit(id: 0, request: request, deadline: deadline)
        while true {
            if let completion = pool.nextCompletion() {
                switch completion.outcome {
                case .answer(let answer): return answer
                case .failure(let failure): throw TokenKeySource.Failure(reason: failure.description)
                }
            }
            for index in try poller.wait(until: min(pool.nextTimer ?? deadline, deadline)) where pool.owns(poller[index].token) {
                pool.handle(poller[index])
            }
            if isCancelled() { throw TokenKeySource.Failure(reason: "the gateway stops") }
            pool.handleTimers(.now())
        }
    }
}
