/// How many passwords may wait to be checked: one takes a processor for some 50 ms, and whoever knows none can ask for it.
///
/// A pure count; its owner guards it.
public struct CheckAdmission: Sendable, Equatable {
    /// The most that may wait or run at once: some 3 s of work for one thread.
    public static let limit = 64

    /// How many wait or run.
    public private(set) var count = 0

    /// None waits or runs.
    public init() {}

    /// Lets one more wait; each needs a `leave` in the end.
    ///
    /// - Returns: False when there are too many; then it must not wait.
    public mutating func enter() -> Bool {
        guard count < Self.limit else { return false }
        count += 1
        return true
    }

    /// One was checked, or has gone.
    public mutating func leave() {
        count = max(0, count - 1)
    }
}
