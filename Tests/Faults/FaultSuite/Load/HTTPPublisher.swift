import FaultOracle
import Foundation
import Synchronization

/// Publishes a load over HTTP, from several connections with a thread each, and takes down every call. A call that was not accepted is made
/// again with the same key, until a 202.
final class HTTPPublisher: Sendable {
    private struct State {
        var next = 0
        /// Before when no request is begun.
        var due = ContinuousClock.now
        var running = 0
        var isEnding = false
        var calls: [HTTPCallFact] = []
        var failure: String?
    }

    private let load: HTTPLoad
    private let gateways: [GatewayProcess]
    /// The API key.
    private let key: String
    private let state = Mutex(State())

    init(_ load: HTTPLoad, gateways: [GatewayProcess], key: String) {
        self.load = load
        self.gateways = gateways
        self.key = key
    }

    /// Starts to publish. To be called once.
    func start() {
        state.withLock { $0.running = load.connections }
        for _ in 0..<load.connections {
            let thread = Thread { [self] in
                work()
                state.withLock { $0.running -= 1 }
            }
            thread.name = "faults-http"
            thread.stackSize = 1 << 19
            thread.start()
        }
    }

    /// Whether every request was accepted or given up, or publishing has failed.
    var isDone: Bool { state.withLock { $0.running == 0 } }

    /// The calls so far.
    var calls: [HTTPCallFact] { state.withLock { $0.calls } }

    /// How many requests were begun so far.
    var begunCount: Int { state.withLock { $0.next } }

    /// Why publishing has failed.
    var failure: String? { state.withLock { $0.failure } }

    /// Ends early.
    func end() { state.withLock { $0.isEnding = true } }

    /// How long a request may be without a 202, before publishing has failed.
    private static let patience = Duration.seconds(180)
    /// The time before the same call is made again.
    private static let rest = Duration.milliseconds(300)

    private func work() {
        let connections = gateways.map { HTTPConnection($0, key: key) }
        defer {
            for connection in connections { connection.close() }
        }
        while let (number, due) = nextRequest() {
            Clock.pause(max(.zero, ContinuousClock.now.duration(to: due)))
            for round in 0..<load.rounds {
                guard publish(number, round, on: connections) else { break }
            }
        }
    }

    /// The next request and when to begin it; nil when there is none.
    private func nextRequest() -> (number: Int, due: ContinuousClock.Instant)? {
        state.withLock { state in
            guard !state.isEnding, state.next < load.count else { return nil }
            defer { state.next += 1 }
            state.due = max(state.due, .now) + .microseconds(1_000_000 / load.rate)
            return (state.next, state.due)
        }
    }

    /// Publishes a request until it is accepted; false when it is given up.
    private func publish(_ number: Int, _ round: Int, on connections: [HTTPConnection]) -> Bool {
        let deadline = ContinuousClock.now + Self.patience
        var isFirst = round == 0
        var turn = number + round
        while !state.withLock({ $0.isEnding }) {
            if let call = connections[turn % connections.count].publish(number) {
                state.withLock { $0.calls.append(call) }
                if call.isAccepted { return true }
                if isFirst && call.status == 503 && load.isGivenUp(number) { return false }
                guard call.mayBeRepeated else {
                    fail("request \(number) was answered \(call.status)")
                    return false
                }
                isFirst = false
            }
            guard ContinuousClock.now < deadline else {
                fail("request \(number) had no 202 within \(Self.patience)")
                return false
            }
            turn += 1
            Clock.pause(Self.rest)
        }
        return false
    }

    private func fail(_ reason: String) {
        state.withLock { state in
            state.failure = state.failure ?? reason
            state.isEnding = true
        }
    }
}
