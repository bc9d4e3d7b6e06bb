public import PushModel

/// The times at which a failed call is tried again: exponential backoff with full jitter, never before what the hub asked for.
///
/// All spans of time are milliseconds. The schedule is a value; randomness comes in as an argument.
public struct RetrySchedule: Sendable, Equatable {
    /// Tries of one call in all, the first included: 1–20, default 4.
    public var maxAttempts: Int
    /// The ceiling of the first wait, default 1,000 ms.
    public var base: Int64
    /// By what the ceiling grows with each attempt, default 2.
    public var factor: Double
    /// The highest ceiling, default 60,000 ms.
    public var cap: Int64

    /// A schedule. The defaults are those of page HubProtocol, "Retries".
    public init(maxAttempts: Int = 4, base: Int64 = 1000, factor: Double = 2, cap: Int64 = 60_000) {
        self.maxAttempts = maxAttempts
        self.base = base
        self.factor = factor
        self.cap = cap
    }

    /// The decision after a failed attempt that may be repeated.
    public enum Decision: Sendable, Equatable {
        /// Try again after this many milliseconds.
        case retry(after: Int64)
        /// All attempts are used up, or none can change the answer.
        case exhausted
        /// The request would expire before the next attempt.
        case expires
    }

    /// The longest that jitter can make the wait after attempt number `attempt` (from 1).
    public func ceiling(afterAttempt attempt: Int) -> Int64 {
        var ceiling = Double(base)
        // Attempts are few; what is grown beyond the cap, or is no number, is the cap.
        for _ in 1..<min(max(attempt, 1), 1000) where ceiling < Double(cap) { ceiling *= factor }
        return ceiling < Double(cap) ? Int64(max(ceiling, 0)) : max(cap, 0)
    }

    /// Decides about the next attempt.
    ///
    /// Jitter comes on top of the floor, so that all who were asked to wait do not come back at once.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - limit: The request's own `max_attempts`, or nil for the schedule's.
    ///   - floor: What the hub asked for with Retry-After; the wait is never shorter.
    ///   - now: The present moment.
    ///   - expiry: When the request is of no more use, or nil.
    ///   - generator: Draws the jitter: evenly from 0 to the attempt's ceiling.
    /// - Returns: How long to wait, or why there is no next attempt.
    public func next(
        afterAttempt attempt: Int, limit: Int? = nil, floor: Int64 = 0, now: Timestamp, expiry: Timestamp? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Decision {
        guard attempt < limit ?? maxAttempts else { return .exhausted }
        let jitter = Int64.random(in: 0...ceiling(afterAttempt: attempt), using: &generator)
        let wait = max(floor, 0).addingSaturated(jitter)
        if let expiry, expiry <= now || now.adding(milliseconds: wait) >= expiry { return .expires }
        return .retry(after: wait)
    }

    /// Decides about the next attempt by what the verdict on the last one allows.
    ///
    /// - Parameters:
    ///   - retry: The verdict's answer to whether another attempt makes sense.
    ///   - attempt: The number of the attempt that ended, from 1.
    ///   - limit: The request's own `max_attempts`, or nil for the schedule's.
    ///   - stopsIfAmbiguous: Whether a call that may have arrived is not made again.
    ///   - floor: The wait that the hub asked for with Retry-After. A new token does not wait.
    ///   - now: The present moment.
    ///   - expiry: When the request is of no more use, or nil.
    ///   - generator: Draws the jitter.
    /// - Returns: How long to wait, or why there is no next attempt.
    public func next(
        after retry: CallVerdict.Retry, attempt: Int, limit: Int?, stopsIfAmbiguous: Bool, floor: Int64, now: Timestamp,
        expiry: Timestamp?, using generator: inout some RandomNumberGenerator
    ) -> Decision {
        switch retry {
        case .never: .exhausted
        case .ifAmbiguityAllowed where stopsIfAmbiguous: .exhausted
        case .reauthenticate: attempt < limit ?? maxAttempts ? .retry(after: 0) : .exhausted
        case .backoff, .ifAmbiguityAllowed:
            next(afterAttempt: attempt, limit: limit, floor: floor, now: now, expiry: expiry, using: &generator)
        }
    }
}
