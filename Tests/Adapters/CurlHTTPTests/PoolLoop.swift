import Basics
import CurlHTTP
import EventLoop
import HTTP1
import TestSupport

/// A pool with its poller, driven until as many completions as wanted have come.
final class PoolLoop {
    let poller: Poller
    let pool: ConnectionPool
    private(set) var mostConnections = 0

    init(_ configuration: ConnectionPoolConfiguration) throws {
        poller = try Poller()
        pool = try ConnectionPool(configuration, poller: poller, tokenBase: 1 << 40)
    }

    /// A pool for a plain server on this machine.
    convenience init(port: UInt16, host: String = "127.0.0.1", adjusting: (inout ConnectionPoolConfiguration) -> Void = { _ in })
        throws
    {
        var configuration = ConnectionPoolConfiguration(scheme: .http, host: host, port: port)
        configuration.proxy = ""
        configuration.connectTimeout = farDeadline
        adjusting(&configuration)
        try self.init(configuration)
    }

    deinit {
        pool.close()
    }

    static func request(_ body: String = "{}", method: String = "POST") -> [UInt8] {
        Array("\(method) /x HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    func submit(_ id: Int, _ request: [UInt8] = request(), within limit: Duration = farDeadline) {
        pool.submit(id: id, request: request, deadline: .now().advanced(by: limit))
    }

    /// Runs the loop until `isDone`.
    ///
    /// - Returns: The completions that came.
    func run(until isDone: ([Completion]) -> Bool) throws -> [Completion] {
        var completions: [Completion] = []
        let end = MonotonicTime.now().advanced(by: farDeadline)
        while true {
            while let completion = pool.nextCompletion() { completions.append(completion) }
            if isDone(completions) || .now() >= end { return completions }
            let tick = MonotonicTime.now().advanced(by: .milliseconds(5))
            for index in try poller.wait(until: min(pool.nextTimer ?? .never, tick)) {
                if pool.owns(poller[index].token) { pool.handle(poller[index]) }
                mostConnections = max(mostConnections, pool.openConnections)
            }
            pool.handleTimers(.now())
        }
    }

    func completions(_ count: Int) throws -> [Completion] {
        try run { $0.count >= count }
    }

    /// One exchange from start to end.
    func exchange(_ id: Int = 1, _ request: [UInt8] = request(), within limit: Duration = farDeadline) throws -> Completion? {
        submit(id, request, within: limit)
        return try completions(1).first
    }
}

extension Completion {
    var status: Int? { if case .answer(let answer) = outcome { answer.status } else { nil } }
    var body: String? { if case .answer(let answer) = outcome { answer.string(answer.bodyRange) } else { nil } }
    var failure: TransportFailure? { if case .failure(let failure) = outcome { failure } else { nil } }
}

/// Answers of the scripted servers.
enum Answers {
    static let created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
    static let closing = "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    static func ok(_ body: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)" }
}
