import Basics
import CurlHTTP
import EventLoop
import HTTP1
import TestSupport

/// What a client made of one answer.
enum AnswerReading: Equatable {
    case answer(status: Int, fields: [String], body: [UInt8], keepsConnection: Bool)
    case refused(String)
}

/// A client that goes on only when it is told to, on the thread of its server.
protocol DrivenClient: AnyObject {
    /// What it made of the answer to the last request; nil as long as it waits for more.
    var reading: AnswerReading? { get }

    /// Sends a request.
    func start(isHead: Bool) throws

    /// Waits for an event of a socket, and deals with it.
    ///
    /// - Parameter end: Until when to wait.
    /// - Returns: Whether there was one.
    /// - Throws: When the sockets cannot be watched.
    func step(until end: MonotonicTime) throws -> Bool
}

struct NothingHappened: Error {}

extension DrivenClient {
    /// Lets the client go on until something is there.
    @discardableResult
    func wait<Value>(for look: () -> Value?) throws -> Value {
        let end = MonotonicTime.now().advanced(by: farDeadline)
        while true {
            if let value = look() { return value }
            guard .now() < end else { throw NothingHappened() }
            _ = try step(until: .now().advanced(by: .milliseconds(2)))
        }
    }

    /// One request and its answer, of which the client has read each piece before it gets the next.
    ///
    /// - Returns: What the client made of it, and the connection.
    func exchange(
        _ pieces: [ArraySlice<UInt8>], closes: Bool = false, isHead: Bool = false, with server: HandServer,
        on kept: HandConnection? = nil
    ) throws -> (AnswerReading, HandConnection) {
        try start(isHead: isHead)
        let connection = try kept ?? wait { server.accept() }
        _ = try wait { connection.takeRequest() }
        for piece in pieces where !piece.isEmpty {
            if reading != nil { break }
            connection.send(piece)
            while reading == nil, try !step(until: .now().advanced(by: farDeadline)) {}
        }
        if closes { connection.finish() }
        return (try wait { reading }, connection)
    }
}

/// Our pool as a driven client.
final class PoolClient: DrivenClient {
    let loop: PoolLoop
    private(set) var reading: AnswerReading?
    private(set) var failure: TransportFailure?
    private var requests = 0

    init(_ loop: PoolLoop) {
        self.loop = loop
    }

    func start(isHead: Bool) {
        start(PoolLoop.request("", method: isHead ? "HEAD" : "GET"))
    }

    func start(_ request: [UInt8]) {
        (reading, failure) = (nil, nil)
        requests += 1
        loop.submit(requests, request)
        takeCompletion()
    }

    func step(until end: MonotonicTime) throws -> Bool {
        let events = try loop.poller.wait(until: min(end, loop.pool.nextTimer ?? .never))
        for index in events { loop.pool.handle(loop.poller[index]) }
        loop.pool.handleTimers(.now())
        takeCompletion()
        return !events.isEmpty
    }

    private func takeCompletion() {
        guard let completion = loop.pool.nextCompletion() else { return }
        switch completion.outcome {
        case .answer(let answer):
            reading = .answer(
                status: answer.status, fields: answer.fields.map { "\(answer.string($0.name))=\(answer.string($0.value))" },
                body: Array(part(answer.bodyRange, of: answer.bytes)), keepsConnection: loop.pool.openConnections == 1)
        case .failure(let failure):
            self.failure = failure
            reading = .refused(failure.description)
        }
    }
}
