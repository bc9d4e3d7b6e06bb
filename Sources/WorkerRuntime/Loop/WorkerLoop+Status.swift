import Delivery
import Kafka
import PushModel

/// What the loop remembers for its status alone.
struct LoopFacts {
    /// Requests finished since the start.
    var finishedCount = 0
    var finishRate = FinishRate()
    /// When partitions were assigned or taken away last.
    var lastRebalance: Timestamp?
    /// When a commit was confirmed last.
    var lastCommit: Timestamp?
    /// Since when the oldest unread record waits, as far as that is known; nil when nothing is unread.
    var oldestUnread: Timestamp?
}

/// What the loop tells about itself once a second.
extension WorkerLoop {
    /// Since when the oldest request without a result has been waiting; one that is to go out later waits from then on.
    func oldestWaiting() -> Timestamp {
        var oldest = min(wallClock, facts.oldestUnread ?? wallClock)
        for flight in flights.flights where flight.isActive {
            oldest = min(oldest, max(flight.origin.timestamp, flight.request.notBefore ?? flight.origin.timestamp))
        }
        return oldest
    }

    /// Writes down how things stand.
    func postStatus() {
        facts.finishRate.add(facts.finishedCount, at: now)
        let status = LoopStatus(
            worker: configuration.workerID, mode: mode.name, at: wallClock, circuit: limits.circuit.state.name,
            circuitReason: limits.circuit.reason?.rawValue, circuitChange: limits.circuit.nextChange.map(wallClock(at:)),
            limit: limits.concurrency.limit, inFlight: limits.inFlight, waitingForTurn: ready.count,
            waitingForTimer: waitingForRetry,
            finishedPerSecond: facts.finishRate.perSecond, throttledMilliseconds: limits.pause.totalNanoseconds / 1_000_000,
            throttledUntil: limits.pause.end(now: now).map(wallClock(at:)), lastRebalance: facts.lastRebalance,
            lastCommit: facts.lastCommit,
            partitions: partitionStatuses())
        statusBoard.post(status)
    }

    private func partitionStatuses() -> [LoopStatus.Partition] {
        var inWork = [Int](repeating: 0, count: partitions.count)
        var oldest = [Flight?](repeating: nil, count: partitions.count)
        for flight in flights.flights where flight.isActive && flight.epoch == epoch && partitions.indices.contains(flight.slot) {
            inWork[flight.slot] += 1
            if flight.offset < oldest[flight.slot]?.offset ?? .max { oldest[flight.slot] = flight }
        }
        let held = oldest.compactMap { flight in flight.map { ($0.index, $0.generation) } }
        let due = timers.firstDue(of: Dictionary(held) { first, _ in first })
        return partitions.indices.map { slot in
            LoopStatus.Partition(
                topic: partitions[slot].id.topic, partition: partitions[slot].id.partition,
                position: partitions[slot].ledger?.position, committed: partitions[slot].committed?.offset,
                inWork: inWork[slot], oldest: oldest[slot].map { oldestStatus($0, due: due[$0.index]) })
        }
    }

    private func oldestStatus(_ flight: Flight, due: Int64?) -> LoopStatus.Oldest {
        if let delayed = flight.delayed, partitions[flight.slot].head === flight {
            return LoopStatus.Oldest(
                offset: flight.offset, publishedAt: flight.origin.timestamp,
                attempt: delayed.report.calls.map(\.attemptCount).max() ?? 0, waitsFor: "timer", nextDue: delayed.due)
        }
        let waitsFor =
            flight.hasCallInFlight ? "hub" : flight.calls.contains { $0.phase == .waiting } ? "timer" : "turn"
        return LoopStatus.Oldest(
            offset: flight.offset, publishedAt: flight.origin.timestamp,
            attempt: flight.calls.map(\.attempt).max() ?? 0, waitsFor: waitsFor, nextDue: due.map(wallClock(at:)))
    }

    /// The wall clock's time at a moment of the monotonic clock.
    private func wallClock(at moment: Int64) -> Timestamp {
        Timestamp(milliseconds: wallClock.milliseconds + (moment - now) / 1_000_000)
    }
}

extension WorkerLoop.Mode {
    fileprivate var name: String {
        switch self {
        case .running: "running"
        case .revoking: "revoking"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }
}

extension CircuitBreaker.State {
    fileprivate var name: String {
        switch self {
        case .closed: "closed"
        case .halfOpen: "half_open"
        case .open: "open"
        }
    }
}
