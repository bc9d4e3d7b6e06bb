public import Basics

/// The one limit for which the calls to a hub wait at a moment.
public struct CallLimit: Sendable, Equatable {
    /// The kinds of limits, with their words in reports and metrics.
    public enum Cause: String, Sendable, CaseIterable {
        /// Kafka does not take results, so that no call may begin.
        case kafka
        /// The hub is out, or does not count as one that works yet.
        case outage
        /// The hub asked for a rest.
        case pause
        /// As many calls are in flight as the settings let.
        case inFlight = "in_flight"
        /// As many calls are in flight as the hub was found to bear.
        case adaptive
        /// The hub throttles some calls, so that fewer begin.
        case throttle
        /// The rate of the settings.
        case rateLimit = "rate_limit"
        /// The rate of an order.
        case order = "limit"
    }

    /// The kind of limit.
    public var cause: Cause
    /// The rate of all workers together for `rateLimit` and `order`, and of this loop for `throttle`, thousandths of a call per second.
    /// Nil for others.
    public var rate: Int64?
    /// The id of the order, or nil where none sets the rate.
    public var order: String?

    /// A limit.
    public init(_ cause: Cause, rate: Int64? = nil, order: String? = nil) {
        (self.cause, self.rate, self.order) = (cause, rate, order)
    }
}

extension HubLimits {
    /// The limit for which calls wait that could begin otherwise.
    ///
    /// A rate counts if calls waited for it at the end of the last turn: a turn begins when the next of them may go.
    ///
    /// - Parameters:
    ///   - isCommitOverdue: Whether results cannot be recorded at present.
    ///   - now: The present moment.
    /// - Returns: The limit, or nil where they only wait for the loop's next turn.
    public mutating func callLimit(isCommitOverdue: Bool = false, now: MonotonicTime) -> CallLimit? {
        if isCommitOverdue { return CallLimit(.kafka) }
        if isHeld || circuit.state != .closed { return CallLimit(.outage) }
        if pause.end(now: now) != nil { return CallLimit(.pause) }
        // One call at a time asks whether a key is taken.
        if isKeyInDoubt, inFlight >= places(now: now) { return CallLimit(.outage) }
        if inFlight >= places(now: now) { return CallLimit(concurrency.limit < concurrency.most ? .adaptive : .inFlight) }
        guard let rate, rate.isAwaited, rate.rate <= pace.rate ?? .max else {
            return pace.rate.map { CallLimit(.throttle, rate: $0) }
        }
        return CallLimit(rate.order == nil ? .rateLimit : .order, rate: rate.limit, order: rate.order)
    }
}
