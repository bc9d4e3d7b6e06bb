package import Basics
package import HTTPServing
import Observability
import Synchronization

/// Answers one request once, from any thread, and counts the answer.
///
/// Whoever drops the last reference without an answer has answered 500.
package final class Reply: Sendable {
    private let responder: Responder
    private let route: String
    private let services: GatewayServices
    /// Changes the answer on its way (`Interception`).
    private let change = Mutex<(@Sendable (inout HTTPServerResponse) -> Void)?>(nil)
    private let started: MonotonicTime
    private let isAnswered = Atomic(false)

    /// Ends streams and waits whose callers have lost their rights.
    package var rights: RightsWatch { services.rights }

    /// True if its client must take the answers before first.
    package var isCongested: Bool { responder.isCongested }

    /// The reply to a request that has just come.
    package init(_ responder: Responder, route: String, services: GatewayServices) {
        self.responder = responder
        self.route = route
        self.services = services
        started = services.now()
    }

    deinit { if !isAnswered.load(ordering: .relaxed) { answer(APIProblem.failed) } }

    /// Has a fault strike the call, if there is one for it. Returns true if that has answered it.
    package func isStruck(_ request: HTTPServerRequest) -> Bool {
        guard let interception = services.intercept?(request) else { return false }
        change.withLock { $0 = interception.change }
        guard let refusal = interception.refusal else { return false }
        answer(refusal)
        return true
    }

    /// Answers; what comes after the first answer, or after the server's own, is ignored and not counted.
    package func answer(_ response: HTTPServerResponse) {
        isAnswered.store(true, ordering: .relaxed)
        var response = response
        change.withLock { $0 }?(&response)
        guard let sent = responder.send(response) else { return }
        services.count(sent, on: route, since: started)
    }

    /// Answers; what comes after the first answer is ignored.
    package func answer(_ answer: APIAnswer) { self.answer(answer.documented(at: services.docsURL).response) }

    /// Answers; what comes after the first answer is ignored.
    package func answer(_ problem: APIProblem) { answer(APIAnswer(problem)) }
}

extension GatewayServices {
    /// Counts an answer to a request that came at `started`.
    package func count(_ response: HTTPServerResponse, on route: String, since started: MonotonicTime) {
        metrics.requests.series([route, String(response.status)]).increment()
        metrics.requestDuration.series([route]).observe(nanoseconds: now().nanoseconds(since: started))
    }
}
