/// The time for which workers find a repeated request: while it is within `dedupe.reach` offsets behind the first in its partition.
struct RetryReach: Sendable, Equatable {
    /// Seconds for which a caller that gets no answer is expected to go on trying.
    static let retrySeconds = 60

    /// `dedupe.reach`, in offsets.
    let offsets: Int

    /// Computes the time for which a repeated request is found.
    ///
    /// - Parameter rate: The offsets by which the partition grows in a second.
    /// - Returns: Seconds, or nil where that does not end.
    func seconds(atRate rate: Double) -> Double? { rate > 0 ? Double(offsets) / rate : nil }

    /// Finds out whether a retry within a minute may be out of reach.
    ///
    /// - Parameter rate: The offsets by which the partition grows in a second.
    /// - Returns: True if it may.
    func isShort(atRate rate: Double) -> Bool { rate * Double(Self.retrySeconds) > Double(offsets) }
}
