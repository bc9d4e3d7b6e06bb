import GatewayAPI
import HubREST
import PushModel

extension APIAnswer {
    /// The answer to a call of `/api/register` that ended.
    init(_ ending: Registrar.Ending) {
        switch ending {
        case .id(let id): self = .registration(id)
        case .done: self = .done
        case .notFound: self = APIAnswer(APIProblem.notFound)
        case .failed(let failure): self = APIAnswer(APIProblem(failure))
        }
    }
}

extension APIProblem {
    /// When to try again if the hub does not say it, in milliseconds.
    private static let usualWait: Int64 = 5000

    /// What a failed call about devices means to the one who made the call of the API.
    ///
    /// - 503 when the hub has too much to do: it answered 429, 503 or 409. `Retry-After` is the hub's.
    /// - 500 when the call could not be made at all.
    /// - 400 for an id or a handle that no hub can have.
    /// - 502 for all else: it cannot be reached, refuses the key, or its answer cannot be understood.
    init(_ failure: RegistrationFailure) {
        let retry: Retry = failure.isWorthRetrying ? .safe : .never
        switch failure.cause {
        case .unusable:
            self = .invalid("No device can have this id or this handle.")
        case .unsigned, .system:
            self.init(500, code: failure.code, detail: "The hub cannot be asked: \(failure).", retry: retry)
        case .refused where failure.code == .hubThrottled || failure.status == 429 || failure.status == 503:
            self.init(503, code: failure.code, detail: "The hub has too much to do: \(failure).", retry: .safe)
            retryAfter = failure.retryAfter ?? Self.usualWait
        case .refused, .unanswered, .unreadable:
            self.init(502, code: failure.code, detail: "The device cannot be registered at the hub: \(failure).", retry: retry)
        }
    }
}
