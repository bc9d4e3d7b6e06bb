import Delivery
import PushModel

/// The entry of a request in the status.
extension Flight {
    /// The entry of the oldest request of its partition.
    ///
    /// - Parameters:
    ///   - isHead: Whether it is the first record of a delay lane, which waits there.
    ///   - timer: When the first timer of its calls is due, or nil.
    ///   - now: The present moment.
    /// - Returns: The entry.
    func status(isHead: Bool, timer: Timestamp?, now: Timestamp) -> LoopStatus.Oldest {
        if isHead, let recheckTime = wait.recheckTime {
            return LoopStatus.Oldest(
                offset: place.offset, publishedAt: place.origin.timestamp, attempt: wait.delayed?.report.attemptCount ?? 0,
                waitsFor: recheckTime > now ? "timer" : "turn", nextDue: wait.due)
        }
        let waitsFor = work.hasCallInFlight ? "hub" : work.calls.contains { $0.phase == .waiting } ? "timer" : "turn"
        return LoopStatus.Oldest(
            offset: place.offset, publishedAt: place.origin.timestamp, attempt: work.calls.map(\.attempt).max() ?? 0,
            waitsFor: waitsFor,
            nextDue: timer)
    }
}
