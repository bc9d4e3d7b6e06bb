import Basics
import Delivery
import GroupPositions
import Kafka
import Observability
import PushModel

/// The loop's report about itself once a second.
extension WorkerLoop {
    /// Since when the oldest of all that could go on waits to be finished, of each hub: requests in work, buffered ones, and telemetry
    /// polls. What was not read yet, or waits for its key, counts for the first hub. What waits for its time, in memory or in a delay
    /// lane, waits from then on.
    func oldestWaiting() -> [Timestamp] {
        var first = min(wallClock, facts.oldestUnread ?? wallClock)
        first = min(first, scheduler.oldestOfKeys(at: wallClock) ?? first)
        for slot in delayedPartitions.slots { first = min(first, partitions[slot].unread?.waitingSince ?? first) }
        var oldest = ports.map { min(wallClock, scheduler.buffers.oldest(at: $0.number) ?? wallClock) }
        for flight in flights.flights where flight.isActive {
            oldest[flight.port] = min(oldest[flight.port], flight.waitingSince)
        }
        if let port = ports.first(where: { !$0.isRetired }) { oldest[port.number] = min(oldest[port.number], first) }
        return oldest
    }

    /// Says how many records were not read yet, and of each topic since when the first of them waits. In a delay lane that is the next
    /// one to go on, and it waits from when it is due.
    func measureLag() {
        measureRequests()
        measureDelayed()
        for slot in parents.slots {
            if let marks = readerMarks(of: slot) { partitions[slot].measureLag(marks, from: parents[slot].position) }
        }
        for slot in held.slots {
            guard let marks = readerMarks(of: slot) else { continue }
            partitions[slot].measureLag(marks, from: partitions[slot].ledger?.position ?? marks.low)
        }
        metrics.parentsOpen.set(parents.openCount)
    }

    private func measureRequests() {
        facts.oldestUnread = nil
        var open: [OpenTransaction] = []
        for lane in Lane.allCases {
            var oldest = wallClock
            for slot in lanes[lane.rawValue].slots {
                guard let marks = consumer.watermarks(slot: slot) else { continue }
                let lag = partitions[slot].measureRequests(marks, now: wallClock)
                oldest = min(oldest, lag.since ?? oldest)
                open += lag.open
            }
            metrics.lagSeconds(of: lane).set(wallClock.seconds(since: oldest))
            facts.oldestUnread = min(facts.oldestUnread ?? oldest, oldest)
        }
        health.noteOpen(open)
    }

    private func measureDelayed() {
        var oldest = configuration.topics.delays.map { _ in wallClock }
        for slot in delayedPartitions.slots {
            let since = partitions[slot].measureDelayed(readerMarks(of: slot), now: wallClock)
            if let since, case .delay(let delay) = partitions[slot].role { oldest[delay] = min(oldest[delay], since) }
        }
        for delay in oldest.indices { metrics.lagSeconds(ofDelay: delay).set(wallClock.seconds(since: oldest[delay])) }
    }

    /// The oldest and the next offset of a partition that the reader of delay lanes has, or nil while they are not known.
    private func readerMarks(of slot: Int) -> Watermarks? {
        delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound)
    }

    /// Writes down how things stand.
    func postStatus() {
        facts.measureRate(now: now)
        let status = LoopStatus(
            worker: configuration.workerID, mode: mode.name, at: wallClock,
            hubs: ports.filter { !$0.isClosed }.map {
                $0.status(bufferedCount: scheduler.buffers.count(at: $0.number), now: now, wallClock: wallClock)
            },
            finishedPerSecond: facts.finishRate.perSecond, finished: metrics.tally.finished, callCount: metrics.tally.callCount,
            latency: metrics.tally.latency, lastRebalance: facts.lastRebalance, lastCommit: facts.lastCommit,
            partitions: partitionStatuses(), problem: LoopStatus.problem([health.controlProblem] + ports.map(\.fleetProblem)))
        facts.board.post(status)
    }

    private func partitionStatuses() -> [LoopStatus.Partition] {
        let work = flights.work(in: epoch, partitionCount: partitions.count)
        let due = timers.firstDue(of: work.generations)
        let open = laterStarts.open
        return partitions.enumerated().map { slot, partition in
            let oldest = work.oldest[slot].map { flight in
                let moment = due[flight.index].map { wallClock.adding(milliseconds: ($0 - now) / 1_000_000) }
                return flight.status(isHead: partition.head === flight, timer: moment, now: wallClock)
            }
            return partition.status(inWork: work.counts[slot], oldest: oldest, reading: open[partition.id], now: wallClock)
        }
    }
}
