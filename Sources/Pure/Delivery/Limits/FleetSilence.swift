import Basics

/// For how long the fleet has given a worker with partitions no share of a limit, as far as that counts.
struct FleetSilence: Sendable {
    /// The time for which a worker sends nothing for want of a share: 10 s in nanoseconds. All that agree by one log have lost
    /// their leases by then.
    static let patience: Int64 = 10_000_000_000
    /// The time for which the fleet must have given a share again before that is used: 2 s in nanoseconds. By then all that can
    /// read have one, and no one takes for free what another one still takes without the fleet.
    static let recovery: Int64 = 2_000_000_000
    /// The most that counts of the time between two looks: 1 s in nanoseconds. A process that stood still has heard nothing
    /// either.
    static let longestStep: Int64 = 1_000_000_000

    /// True if it has lasted longer than `patience`, and has not been over for `recovery`.
    private(set) var isLong = false

    private var length: Int64 = 0
    /// For how long there has been a share since.
    private var recovered: Int64 = 0
    private var lastCheck: MonotonicTime?

    /// Lets time pass. `hasShare` if there is a share, or none is wanted.
    mutating func advance(hasShare: Bool, now: MonotonicTime) {
        let step = lastCheck.map { min(max(0, now - $0), Self.longestStep) } ?? 0
        lastCheck = now
        if !hasShare {
            recovered = 0
            length = min(length + step, Self.patience + 1)
            isLong = isLong || length > Self.patience
        } else {
            recovered += step
            guard !isLong || recovered > Self.recovery else { return }
            (length, recovered, isLong) = (0, 0, false)
        }
    }
}
