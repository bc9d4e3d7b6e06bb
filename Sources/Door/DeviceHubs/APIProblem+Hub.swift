package import GatewayAPI
package import HubREST
import PushModel

extension APIProblem {
    /// The time until the next try if the hub does not say it, in milliseconds.
    private static let usualWait: Int64 = 5000

    /// The meaning of a failed call about devices to the one who made the call of the API.
    ///
    /// - 429, or the status that stands for it, when the hub has too much to do: it answered 429, 503 or 409, or the gateway keeps its pace.
    ///   `Retry-After` is the hub's.
    /// - 500 when the call could not be made at all.
    /// - 400 for an id or a handle that no hub can have, and where the hub says 400, as to a template that it cannot read.
    /// - 404 for a device that is not there.
    /// - 502 for all else: it cannot be reached, refuses the key, or its answer cannot be understood.
    package init(_ failure: RegistrationFailure, whenThrottled throttled: Int = 429) {
        let retry: Retry = failure.isWorthRetrying ? .safe : .never
        switch failure.cause {
        case .unusable:
            self = .invalid("No device can have this id or this handle.")
        case .absent:
            self = .notFound
        case .unsigned, .system:
            self.init(500, code: failure.code, detail: "The hub cannot be asked: \(failure).", retry: retry)
        case .held,
            .refused where failure.code == .hubThrottled || failure.status == 429 || failure.status == 503:
            let code: ErrorCode = throttled == 429 ? .hubThrottled : failure.code
            self.init(throttled, code: code, detail: "The hub has too much to do: \(failure).", retry: .safe)
            retryAfter = failure.retryAfter ?? Self.usualWait
        case .refused where failure.status == 400:
            self.init(
                400, code: failure.code, detail: "The hub takes no such device, template or tag: \(failure).", retry: .never)
        case .refused, .unanswered, .unreadable:
            self.init(502, code: failure.code, detail: "The hub has not done it: \(failure).", retry: retry)
        }
    }
}
