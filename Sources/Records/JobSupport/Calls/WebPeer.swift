import Basics
package import CurlHTTP
import EventLoop
package import HTTP1

/// A server that is called by HTTP, one request after another, on one thread at a time.
package final class WebPeer {
    /// The pauses after the calls of a busy server, one for each attempt.
    private static let pauses: [Duration] = [.milliseconds(500), .milliseconds(900), .zero]

    /// The name of the peer for messages: `the hub at contoso.servicebus.windows.net`.
    package let name: String
    private let timeout: Duration
    private let isCancelled: () -> Bool
    private let poller: Poller
    private let pool: ConnectionPool

    /// A peer that is not called yet. Its name for messages has no secrets.
    package init(
        named name: String, configuration: ConnectionPoolConfiguration, timeout: Duration, isCancelled: @escaping () -> Bool
    ) throws(JobFailure) {
        self.name = name
        self.timeout = timeout
        self.isCancelled = isCancelled
        do {
            poller = try Poller()
            pool = try ConnectionPool(configuration, poller: poller, tokenBase: 0)
        } catch {
            throw JobFailure.peer(.misconfigured, "\(name) cannot be called: \(error)")
        }
    }

    deinit { pool.close() }

    /// Sends a request. Repeats it some times if the peer is busy or does not answer. No part of the request is in the error.
    package func answer(to request: [UInt8]) throws(JobFailure) -> Answer {
        var failure = JobFailure.peer(.unreachable, "\(name) does not answer")
        for pause in Self.pauses {
            switch try ask(request) {
            case .answer(let answer):
                guard Self.isBusy(answer) else { return answer }
                failure = .peer(.busy, "\(name) is busy, or has trouble: it answers \(answer.status)")
            case .failure(let reason):
                failure = .peer(.unreachable, "\(name) does not answer: \(reason.description)")
            }
            Pause.sleep(pause)
        }
        throw failure
    }

    /// A 403 with `Retry-After` is the hub's older way to throttle (page HubProtocol, "Throttling").
    private static func isBusy(_ answer: Answer) -> Bool {
        switch answer.status {
        case 429, 500, 502, 503, 504: true
        case 403: answer.value(of: "Retry-After") != nil
        default: false
        }
    }

    /// Sends a request once, and waits for its outcome.
    package func ask(_ request: [UInt8]) throws(JobFailure) -> Completion.Outcome {
        let deadline = MonotonicTime.now().advanced(by: timeout)
        pool.submit(id: 0, request: request, deadline: deadline)
        while true {
            if let completion = pool.nextCompletion() { return completion.outcome }
            if isCancelled() { throw .cancelled }
            let step = MonotonicTime.now().advanced(by: .milliseconds(100))
            do throws(SystemCallError) {
                for index in try poller.wait(until: min(pool.nextTimer ?? deadline, deadline, step)) {
                    pool.handle(poller[index])
                }
            } catch {
                throw .peer(.failed, "waiting for an answer failed: \(error)")
            }
            pool.handleTimers(.now())
        }
    }
}
