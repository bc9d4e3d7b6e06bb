import Basics
import Delivery
import GroupPositions
import Kafka
import Observability
import PushModel

/// The facts that the loop remembers for its status alone.
struct LoopFacts {
    /// Requests finished since the start.
    var finishedCount = 0
    var finishRate = FinishRate()
    /// The time when partitions were last assigned or taken away.
    var lastRebalance: Timestamp?
    /// The time when a commit was last confirmed.
    var lastCommit: Timestamp?
    /// The time since which the oldest unread request waits, as far as that is known. Nil when nothing is unread.
    var oldestUnread: Timestamp?
}

/// The loop's report about itself once a second.
extension WorkerLoop {
    /// Since when the oldest of all that could go on waits to be finished, of each hub: requests in work, buffered ones, and telemetry
    /// polls. What was not read yet, or waits for its key, counts for the first hub. What waits for its time, in memory or in a delay
    /// lane, waits from then on.
    func oldestWaiting() -> [Timestamp] {
        var first = min(wallClock, facts.oldestUnread ?? wallClock)
        first = min(first, scheduler.oldestOfKeys(at: wallClock) ?? first)
        for slot in delayedPartitions.slots { first = min(first, partitions[slot].unread?.waitingSince ?? first) }
        var oldest = ports.map { min(wallClock, scheduler.oldestBuffered(at: $0.number) ?? wallClock) }
        for flight in flights.flights where flight.isActive {
            oldest[flight.port] = min(oldest[flight.port], flight.waitingSince)
        }
        if let index = ports.firstIndex(where: { !$0.isRetired }) { oldest[index] = min(oldest[index], first) }
        return oldest
    }

    /// Says how many records were not read yet, and of each topic since when the first of them waits. In a delay lane that is the next
    /// one to go on, and it waits from when it is due.
    func measureLag() {
        facts.oldestUnread = nil
        var open: [OpenTransaction] = []
        for lane in Lane.allCases {
            var oldest = wallClock
            for slot in lanes[lane.rawValue].slots {
                guard let marks = consumer.watermarks(slot: slot) else { continue }
                let start = partitions[slot].left == .unanswered ? partitions[slot].firstOffset : marks.low
                let count = max(0, marks.high - (partitions[slot].ledger?.position ?? start))
                partitions[slot].lag.set(Int(count))
                let since = partitions[slot].backlog.oldest(
                    unreadCount: count, lastTaken: partitions[slot].lastTimestamp, now: wallClock)
                if let since { oldest = min(oldest, since) }
                open += partitions[slot].openTransaction(high: marks.high, since: since, now: wallClock)
            }
            metrics.lagSeconds(of: lane).set(seconds(since: oldest))
            facts.oldestUnread = min(facts.oldestUnread ?? oldest, oldest)
        }
        health.noteOpen(open)
        measureDelayedLag()
        for slot in parents.slots {
            guard let marks = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound) else { continue }
            partitions[slot].lag.set(Int(max(0, marks.high - parents[slot].position)))
        }
        for slot in held.slots {
            guard let marks = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound) else { continue }
            partitions[slot].lag.set(Int(max(0, marks.high - (partitions[slot].ledger?.position ?? marks.low))))
        }
        metrics.parentsOpen.set(parents.openCount)
    }

    private func measureDelayedLag() {
        var oldest = configuration.topics.delays.map { _ in wallClock }
        for slot in delayedPartitions.slots {
            var unreadCount: Int64 = 0
            if let marks = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound) {
                unreadCount = max(0, marks.high - (partitions[slot].lookedUpTo ?? marks.low))
                partitions[slot].lag.set(Int(unreadCount))
            }
            guard case .delay(let delay) = partitions[slot].role else { continue }
            // Behind what can be read, a transaction's marker is no record that waits.
            let since = DelayedBacklog.oldest(
                next: partitions[slot].nextDelayed, lastLook: partitions[slot].isBlocked ? partitions[slot].lastCheck : nil,
                unreadCount: unreadCount, now: wallClock)
            if let since { oldest[delay] = min(oldest[delay], since) }
        }
        for delay in oldest.indices { metrics.lagSeconds(ofDelay: delay).set(seconds(since: oldest[delay])) }
    }

    /// The time that has passed since a moment. It may come from a record, where anybody can write any number, so that whole ones
    /// could overflow.
    func seconds(since moment: Timestamp) -> Double {
        max(0, Double(wallClock.milliseconds) - Double(moment.milliseconds)) / 1000
    }

    /// Writes down how things stand.
    func postStatus() {
        facts.finishRate.add(facts.finishedCount, at: now)
        let status = LoopStatus(
            worker: configuration.workerID, mode: mode.name, at: wallClock,
            hubs: ports.filter { !$0.isClosed }.map {
                $0.status(bufferedCount: scheduler.bufferedCount(at: $0.number), now: now, wallClock: wallClock)
            },
            finishedPerSecond: facts.finishRate.perSecond, finished: metrics.tally.finished, callCount: metrics.tally.callCount,
            latency: metrics.tally.latency, lastRebalance: facts.lastRebalance, lastCommit: facts.lastCommit,
            partitions: partitionStatuses(), problem: LoopStatus.problem([health.controlProblem] + ports.map(\.fleetProblem)))
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
        let open = laterStarts.open
        let due = timers.firstDue(of: Dictionary(held) { first, _ in first })
        return partitions.indices.map { slot in
            LoopStatus.Partition(
                topic: partitions[slot].id.topic, partition: partitions[slot].id.partition,
                position: partitions[slot].ledger?.position, committed: partitions[slot].committed?.offset,
                inWork: inWork[slot],
                oldest: oldest[slot].map { oldestStatus($0, due: due[$0.index]) }
                    ?? partitions[slot].unread?.status(at: wallClock),
                left: partitions[slot].left, reading: open[partitions[slot].id].map { LoopStatus.Reading($0) })
        }
    }

    private func oldestStatus(_ flight: Flight, due: MonotonicTime?) -> LoopStatus.Oldest {
        if let recheckTime = flight.recheckTime, partitions[flight.slot].head === flight {
            return LoopStatus.Oldest(
                offset: flight.offset, publishedAt: flight.origin.timestamp,
                attempt: flight.delayed?.report.attemptCount ?? 0,
                waitsFor: recheckTime > wallClock ? "timer" : "turn", nextDue: flight.due)
        }
        let waitsFor =
            flight.hasCallInFlight ? "hub" : flight.calls.contains { $0.phase == .waiting } ? "timer" : "turn"
        return LoopStatus.Oldest(
            offset: flight.offset, publishedAt: flight.origin.timestamp,
            attempt: flight.calls.map(\.attempt).max() ?? 0, waitsFor: waitsFor, nextDue: due.map(wallClock(at:)))
    }

    /// The wall clock's time at a moment of the monotonic clock.
    private func wallClock(at moment: MonotonicTime) -> Timestamp {
        wallClock.adding(milliseconds: (moment - now) / 1_000_000)
    }
}

extension Membership.Mode {
    fileprivate var name: String {
        switch self {
        case .running: "running"
        case .revoking: "revoking"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }
}
