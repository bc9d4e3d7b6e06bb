import HTTPServing

/// An answer that refuses a call.
package struct RefusedCall: Error {
    package let answer: HubReply

    package init(_ status: Int, detail: String) {
        answer = .error(status, detail: detail)
    }

    /// The refusal of a call that a store cannot serve now.
    ///
    /// - Parameters:
    ///   - detail: The reason, without any value that was stored.
    ///   - pause: The time after which it may be asked again, in whole seconds.
    /// - Returns: 503 with `Retry-After`.
    package static func unavailable(_ detail: String, retryAfter pause: Int = 5) -> RefusedCall {
        RefusedCall(503, detail: detail, headers: ["Retry-After": "\(pause)"])
    }

    /// The refusal of a send, or of another call, while too many wait.
    package static func throttled(_ call: HubCall, detail: String = "Too many notifications wait") -> RefusedCall {
        RefusedCall(call.apiVersion >= .answers429 ? 429 : 403, detail: detail, headers: ["Retry-After": "10"])
    }

    private init(_ status: Int, detail: String, headers: HTTPFields) {
        var answer = HubReply.error(status, detail: detail)
        answer.headers = headers
        self.answer = answer
    }

    /// The refusal of a call that is not as it must be.
    package static func invalid(_ detail: String) -> RefusedCall { RefusedCall(400, detail: detail) }
}
