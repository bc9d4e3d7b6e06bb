import GatewayAPI
import HTTPServing

/// An answer that a repeated call gets again.
package struct StoredAnswer: Sendable, Equatable {
    /// The most bytes of a body. A longer answer is not kept.
    package static let maximumByteCount = 1 << 20
    /// The most bytes of the body of a refusal. A longer one is not kept: what was refused had no effect, and the same call is refused again.
    static let refusalByteCount = 4 << 10

    package let status: Int
    /// The value of `Location`.
    let location: String?
    /// The value of `Content-Type`.
    let contentType: String?
    let body: [UInt8]

    /// An answer of these parts.
    init(status: Int, location: String? = nil, contentType: String? = nil, body: [UInt8]) {
        self.status = status
        self.location = location
        self.contentType = contentType
        self.body = body
    }

    /// The answer, if it is certain: the same call would get the same one whenever it is made. So are 2xx, and refusals of what the call
    /// says (400, 413, 415, 422).
    ///
    /// Not so are 5xx, and what depends on who asks, when or how often (401, 403, 409, 429). The answer to a batch of which a part may
    /// succeed later is not certain either, whatever its status. Whoever answers it keeps none.
    ///
    /// - Parameter answer: The answer to the first call.
    init?(certain answer: APIAnswer) {
        let isRefusal = !(200..<300).contains(answer.status)
        let limit = isRefusal ? Self.refusalByteCount : Self.maximumByteCount
        guard Self.isCertain(answer.status), answer.body.count <= limit else { return nil }
        self.init(
            status: answer.status, location: answer.headers["Location"], contentType: answer.headers["Content-Type"],
            body: answer.body)
    }

    /// Whether a call would get this status whenever it is made.
    static func isCertain(_ status: Int) -> Bool { (200..<300).contains(status) || [400, 413, 415, 422].contains(status) }

    /// The answer for a repeated call, with `Idempotency-Replayed: true`.
    var replay: APIAnswer {
        var headers: HTTPFields = ["Idempotency-Replayed": "true"]
        if let location { headers.append("Location", value: location) }
        if let contentType { headers.append("Content-Type", value: contentType) }
        return APIAnswer(status: status, headers: headers, body: body)
    }

    /// The bytes that it holds.
    var byteCount: Int { body.count + (location?.utf8.count ?? 0) + (contentType?.utf8.count ?? 0) }
}

/// An answer, and which call it belongs to.
package struct RememberedAnswer: Sendable, Equatable {
    /// A digest of what the call asked for.
    let fingerprint: CallFingerprint
    package let answer: StoredAnswer

    /// Decides about another call with the same key: the answer, or that the key was used for another call.
    func verdict(on fingerprint: CallFingerprint) -> IdempotencyVerdict {
        fingerprint == self.fingerprint ? .replayed(answer) : .mismatch
    }
}
