import Delivery
import GroupPositions
import Kafka
import Observability
import PushModel

/// The lag of a partition, and its line in the status.
///
/// What is called for each partition that changed is mutating, so that it works in place. Else the partition would be copied for it, which
/// takes longer than most of the work.
extension PartitionState {
    /// Measures the lag of a partition of requests.
    ///
    /// - Parameters:
    ///   - marks: The oldest and the next offset of the partition.
    ///   - now: The present moment.
    /// - Returns: Since when the oldest unread record waits, or nil when nothing is unread, and the open transactions that hold it up.
    mutating func measureRequests(_ marks: Watermarks, now: Timestamp) -> (since: Timestamp?, open: [OpenTransaction]) {
        let unreadCount = measureLag(marks, from: ledger?.position ?? (left == .unanswered ? firstOffset : marks.low))
        let since = backlog.oldest(unreadCount: unreadCount, lastTaken: lastTimestamp, now: now)
        return (since, since.map { openTransaction(high: marks.high, since: $0, now: now) } ?? [])
    }

    /// Measures the lag of a partition of a delay lane. Without `marks` nothing is known of what lies behind its first record.
    ///
    /// - Parameters:
    ///   - marks: The oldest and the next offset of the partition.
    ///   - now: The present moment.
    /// - Returns: Since when the oldest record waits, which is in the future, or nil, when nothing does.
    mutating func measureDelayed(_ marks: Watermarks?, now: Timestamp) -> Timestamp? {
        let unreadCount = marks.map { measureLag($0, from: lookedUpTo ?? $0.low) } ?? 0
        // Behind what can be read, a transaction's marker is no record that waits.
        return DelayedBacklog.oldest(
            next: nextDelayed, lastLook: isBlocked ? lastCheck : nil, unreadCount: unreadCount, now: now)
    }

    /// Measures the lag, for the whole backlog too.
    ///
    /// - Parameters:
    ///   - marks: The oldest and the next offset of the partition, or nil while they are not known.
    ///   - parentsPosition: The position in a partition of large requests, or nil for one of another kind.
    ///   - now: The present moment.
    ///   - backlog: Gets what waits.
    mutating func measure(_ marks: Watermarks?, parentsPosition: Int64?, now: Timestamp, into backlog: inout Backlog) {
        var since: Timestamp?
        switch role {
        case .requests(let lane):
            guard let marks else { break }
            let (first, open) = measureRequests(marks, now: now)
            since = first
            backlog.noteRequests(of: lane, since: first, open: open)
            let read = noteReading()
            backlog.note(of: lane, unread: isReadable ? lag.value : 0, read: read)
        case .delay(let delay):
            since = measureDelayed(marks, now: now)
            backlog.noteDelayed(delay, since: since, unread: unread?.waitingSince)
        case .parents, .held:
            if let marks { measureLag(marks, from: parentsPosition ?? ledger?.position ?? marks.low) }
        }
        let mayHaveRecords = role != .parents && cursor.mayHaveRecords
        isAtRest = !mayHaveRecords && since == nil && left == nil && nextDelayed == nil
    }

    /// True if records can be read.
    private var isReadable: Bool { cursor.mayHaveRecords && left == nil && refusal == nil }

    /// The number of offsets that were read since the last call.
    private mutating func noteReading() -> Double {
        guard let position = ledger?.position else { return 0 }
        defer { measuredPosition = position }
        return max(0, Double(position) - Double(measuredPosition ?? position))
    }

    /// Measures the lag from `position`. Returns the number of offsets behind it.
    @discardableResult
    mutating func measureLag(_ marks: Watermarks, from position: Int64) -> Int64 {
        let count = max(0, marks.high - position)
        lag.set(Int(count))
        return count
    }

    /// Shows no lag where none is seen, because no broker says that there is none.
    mutating func hideUnknownLag() {
        if lag.value == 0 { lag.clear() }
    }

    /// The entry in the status.
    ///
    /// - Parameters:
    ///   - inWork: The requests in work.
    ///   - oldest: The entry of the oldest of them.
    ///   - reading: The probe that reads where it begins, or nil.
    ///   - now: The present moment.
    /// - Returns: The entry.
    mutating func status(
        inWork: Int, oldest: LoopStatus.Oldest?, reading: PartitionProbe?, now: Timestamp
    ) -> LoopStatus.Partition {
        LoopStatus.Partition(
            topic: id.topic, partition: id.partition, position: ledger?.position, committed: committed?.offset, inWork: inWork,
            oldest: oldest ?? unread?.status(at: now), left: left, reading: reading.map { LoopStatus.Reading($0) })
    }
}
