/// The outcome of checking a key, or a session.
package enum KeyOutcome: Sendable, Equatable {
    /// The key is right, and the call counts.
    case signedIn(Publisher)
    /// There is no key, or it is wrong, expired or revoked.
    case refused
    /// It is wrong after too many wrong ones; another try makes sense after so many milliseconds.
    case held(Int64)
    /// It is right, and its rate does not allow the call before so many milliseconds have passed, nor ever more calls at once
    /// than `burst`.
    case limited(Int64, burst: Int)
}

extension KeyOutcome {
    /// The publisher. Throws 429, or the given problem for a key that was refused.
    package func publisher(orRefuse refusal: APIProblem) throws(APIProblem) -> Publisher {
        switch self {
        case .signedIn(let publisher): return publisher
        case .refused: throw refusal
        case .held(let wait): throw .tooManyWrongKeys(after: wait)
        case .limited(let wait, let burst): throw .rateLimited(after: wait, burst: burst)
        }
    }
}
