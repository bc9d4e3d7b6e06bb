/// The time for which workers find a repeated request: while it is within `dedupe.reach` offsets behind the first in its partition.
struct RetryReach: Sendable, Equatable {
    /// Seconds for which a caller that gets no answer is expected to go on trying.
    static let retrySeconds = 60

    /// `dedupe.reach`, in offsets.
    let offsets: Int

    init(offsets: Int) {
        self.offsets = offsets
    }

    /// The seconds for which a repeated request is found, or nil where that does not end. `rate` is the partition's offsets per
    /// second.
    func seconds(atRate rate: Double) -> Double? { rate > 0 ? Double(offsets) / rate : nil }

    /// True if a retry within a minute may be out of reach. `rate` is the partition's offsets per second.
    func isShort(atRate rate: Double) -> Bool { rate * Double(Self.retrySeconds) > Double(offsets) }
}
