package import GatewayAPI
package import HubREST
import Observability
import PushModel
import Synchronization

/// Knows how the hub is, from what became of the last call, and tells it to log and health.
package final class HubWatch: Sendable {
    private struct State {
        /// Nil until a call was made.
        var isWell: Bool?
        var isProbing = false
    }

    private let check: HealthCheck
    private let log: Log
    /// The name in the log, where there are several.
    private let name: String?
    private let refusals: KeyRefusals
    /// Nothing else is locked while it is held.
    private let state = Mutex(State())

    /// A watch that has heard of no call yet, of the only hub or of that of a name. Several share the `refusals` of their keys.
    package init(_ services: GatewayServices, hub name: String? = nil, refusals: KeyRefusals? = nil) {
        check = services.health.check(
            name.map { "hub \($0)" } ?? "hub", for: .ready, until: "the hub was not asked yet")
        log = services.log
        self.name = name
        self.refusals = refusals ?? KeyRefusals(services.metrics.hubKeyRefused)
    }

    /// Notes what became of a call; nil is success.
    package func note(_ failure: RegistrationFailure?) {
        if failure?.cause == .unusable || failure?.cause == .held { return }
        let problem = failure.flatMap(Self.problem)
        let wasWell = state.withLock { state -> Bool? in
            defer { state.isWell = problem == nil }
            return state.isWell
        }
        if let isRefused = Self.refusesKey(failure) { refusals.note(isRefused, by: name ?? "") }
        if let problem {
            check.fail(problem)
            if wasWell != false { log.warning(.hubConnection, "the hub cannot be used", fields(problem)) }
        } else {
            check.pass()
            if wasWell != true { log.info(.hubConnection, "the hub answers", fields(nil)) }
        }
    }

    /// Whether to ask the hub how it is: the last call did not show that it is well, and no such call is in flight.
    package func beginProbe() -> Bool {
        state.withLock { state -> Bool in
            guard state.isWell != true, !state.isProbing else { return false }
            state.isProbing = true
            return true
        }
    }

    /// Logs that the first question has no answer yet, if that is so. To be called early enough to be read within 2 s.
    package func noteSilence() {
        guard state.withLock({ $0.isWell == nil && $0.isProbing }) else { return }
        log.warning(.hubConnection, "the hub has not answered yet; waiting", fields(nil))
    }

    /// Whoever was told to ask has an answer, or has given up.
    package func endProbe() { state.withLock { $0.isProbing = false } }

    /// The fields of a line of the log: the reason, and which hub it is.
    private func fields(_ problem: String?) -> KeyValuePairs<LogKey, LogValue> {
        switch (name, problem) {
        case (let name?, let problem?): [.hub: .string(name), .reason: .string(problem)]
        case (let name?, nil): [.hub: .string(name)]
        case (nil, let problem?): [.reason: .string(problem)]
        case (nil, nil): [:]
        }
    }

    /// True if the hub refuses key or rights, nil where what became of the call says nothing of that.
    private static func refusesKey(_ failure: RegistrationFailure?) -> Bool? {
        guard let failure else { return false }
        guard failure.cause == .refused, let status = failure.status, status < 500 else { return nil }
        return failure.code == .hubUnauthorized || failure.code == .hubForbidden
    }

    /// Why no call can succeed for now; nil where the hub has just refused this one, or asks to wait.
    private static func problem(_ failure: RegistrationFailure) -> String? {
        switch failure.cause {
        case .unanswered, .unsigned, .system, .unreadable(.page): return failure.description
        case .unreadable, .unusable, .absent, .held: return nil
        case .refused:
            switch failure.status ?? 0 {
            case 401, 403:
                return failure.code == .hubThrottled ? nil : "\(failure); is the key right, and does its policy have Listen?"
            // An installation that is not there is no refusal.
            case 404, 500...502, 504...599: return failure.description
            default: return nil
            }
        }
    }
}

/// The hubs that refuse every key, for the one gauge that tells of them.
package final class KeyRefusals: Sendable {
    private let gauge: Gauge
    private let names = Mutex<Set<String>>([])

    init(_ gauge: Gauge) { self.gauge = gauge }

    func note(_ isRefused: Bool, by name: String) {
        names.withLock { names in
            if isRefused { names.insert(name) } else { names.remove(name) }
            gauge.set(names.isEmpty ? 0 : 1)
        }
    }
}
