/// A receiver of the results of many requests without a wait for each of them, because it keeps the ids itself.
///
/// A follower calls it for each result that is read, and before the waiters get that result. Both methods are called in the
/// follower's thread. They must not block, nor close the follower.
public protocol ResultListener: AnyObject, Sendable {
    /// True if ``take(_:)`` gets the results of this request. One look-up, because most results are another's.
    func wants(_ id: String) -> Bool

    /// Takes a result of a request that it wants. A result that was written again comes again.
    func take(_ result: ResultRecord)
}
