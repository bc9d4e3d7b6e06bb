import Synchronization

/// The bytes that the bodies of all requests may have together.
final class BodyBudget: Sendable {
    /// Bytes of each body that always find room.
    let uncountedByteCount: Int
    private let limit: Int
    private let taken = Atomic<Int>(0)

    /// A budget of `limit` bytes, beside the first `uncounted` of each body.
    init(limit: Int, uncounted: Int) {
        self.limit = limit
        uncountedByteCount = uncounted
    }

    /// Takes bytes, all of them or none, and returns whether there were so many.
    func take(_ count: Int) -> Bool {
        guard taken.add(count, ordering: .relaxed).newValue > limit else { return true }
        giveBack(count)
        return false
    }

    /// Gives bytes back that were taken.
    func giveBack(_ count: Int) { taken.subtract(count, ordering: .relaxed) }
}
