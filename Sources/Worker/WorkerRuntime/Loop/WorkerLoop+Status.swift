import Basics
import Delivery
import Kafka
import PushModel

/// The loop's report about itself once a second.
extension WorkerLoop {
    /// Since when the oldest of all that could go on waits to be finished, of each hub: requests in work, buffered ones, and telemetry
    /// polls. What was not read yet, or waits for its key, counts for the first hub. What waits for its time, in memory or in a delay
    /// lane, waits from then on. So does what a hold concerns, from the hold's end on, and no outcome is waited for that must not be asked.
    func oldestWaiting() -> [Timestamp] {
        var first = min(wallClock, facts.oldestUnread ?? wallClock)
        first = min(first, scheduler.oldestOfKeys(at: wallClock) ?? first)
        var oldest = ports.map { min(wallClock, scheduler.buffers.oldest(at: $0.number) ?? wallClock) }
        let held = ports.map { controlTopic.orders.holds(hub: $0.name, now: orderTime) }
        for flight in flights.flights where flight.isActive && !(flight.wait.poll != nil && held[flight.route.port]) {
            oldest[flight.route.port] = min(oldest[flight.route.port], flight.waitingSince)
        }
        if let port = ports.first(where: { !$0.isRetired }) { oldest[port.number] = min(oldest[port.number], first) }
        return oldest
    }

    /// Says how many records were not read yet, and of each topic since when the first of them waits. In a delay lane that is the next
    /// one to go on, and it waits from when it is due.
    ///
    /// Only those partitions are measured whose lag may have changed, or of which something waits, but all of them as long as brokers are
    /// silent, and once behind that.
    func measureLag() {
        marks.addSome()
        if facts.sight.isBlind { for slot in partitions.indices { marks.noteArrivals(slot) } }
        facts.sight.note(
            silence: configuration.kafka.watch?.silence ?? .zero, begunAt: membership.begunAt,
            ownsPartitions: membership.ownsPartitions)
        var backlog = Backlog(delayCount: configuration.topics.delays.count, now: wallClock)
        for slot in marks.changed.slots { measure(slot, into: &backlog) }
        metrics.show(backlog, isBlind: facts.sight.isBlind, at: wallClock)
        if facts.sight.isBlind { for slot in partitions.indices { partitions[slot].hideUnknownLag() } }
        facts.note(backlog, now: now)
        if ports.areSeveral { room.update(waits: facts.waits) }
        health.noteOpen(backlog.open)
        metrics.parentsOpen.set(parents.openCount)
    }

    private func measure(_ slot: Int, into backlog: inout Backlog) {
        let offset = slot - delayedPartitions.slots.lowerBound
        let marks = offset < 0 ? consumer.watermarks(slot: slot) : delayReader.watermarks(slot: offset)
        let position = parents.slots.contains(slot) ? parents[slot].position : nil
        partitions[slot].measure(marks, parentsPosition: position, now: wallClock, into: &backlog)
    }

    /// The reason that large requests do not begin, and perhaps no others, if those that have not ended are it.
    private var wholesProblem: String? {
        areWholesFull ? "\(parents.openCount) large requests have not ended; others wait until some have" : nil
    }

    /// The reason that Kafka holds requests up, or nil if it does not.
    private var kafkaProblem: String? {
        if let silence = configuration.kafka.watch?.silence, silence >= Sight.longestSilence { return "no broker answers" }
        if isCommitOverdue { return "Kafka does not take results at present, so no call begins" }
        return hasRoomForOutcomes ? nil : "results that Kafka has not taken fill the memory for them, so nothing more is read"
    }

    /// Writes down how things stand.
    func postStatus() {
        facts.measureRate(now: now)
        let unknownHubs = facts.unrouted.counts(at: wallClock)
        metrics.wait(forUnknown: unknownHubs)
        let orders = facts.held.counts(at: wallClock)
        let calls = limited.waiting.waitingCounts
        metrics.wait(by: orders, at: wallClock)
        let status = LoopStatus(
            worker: configuration.workerID, mode: mode.rawValue, at: wallClock,
            hubs: ports.filter { !$0.isClosed }.map {
                $0.status(
                    bufferedCount: scheduler.buffers.count(at: $0.number), isCommitOverdue: isCommitOverdue,
                    isDelayedByOrder: limited.waiting.delays(hub: $0.number), now: now, wallClock: wallClock)
            },
            finishedPerSecond: facts.finishRate.perSecond, finished: metrics.tally.finished, callCount: metrics.tally.callCount,
            latency: metrics.tally.latency, lastRebalance: facts.lastRebalance, lastCommit: facts.lastCommit,
            partitions: [], heedsCancellations: health.controlProblem?.holdsRequests ?? true,
            problem: LoopStatus.problem(
                [health.controlProblem?.text, wholesProblem, LoopStatus.problem(ofUnknown: unknownHubs)]
                    + ports.map(\.fleetProblem)),
            kafkaProblem: kafkaProblem,
            headOfLine: scheduler.longestKey.map { slot, key in
                .init(topic: partitions[slot].id.topic, partition: partitions[slot].id.partition, key: key)
            },
            unknownHubs: unknownHubs,
            orders: orders.map {
                .init(id: $0.id, kind: $0.kind, waiting: $0.waiting, rate: $0.rate, calls: calls[$0.id] ?? 0)
            },
            omittedOrders: facts.held.omittedCount)
        let work = flights.work(in: epoch)
        marks.note(work)
        let due = flights.firstDue(of: work)
        let open = laterStarts.open
        facts.post(status, epoch: epoch, count: partitions.count, changed: marks.changed.slots) { slot in
            let oldest = work.oldest[slot].map { flight in
                let moment = due[flight.index].map { wallClock.adding(milliseconds: ($0 - now) / 1_000_000) }
                return flight.status(isHead: partitions[slot].head === flight, timer: moment, now: wallClock)
            }
            return partitions[slot].status(
                inWork: work.counts[slot] ?? 0, oldest: oldest, reading: open[partitions[slot].id], now: wallClock)
        }
        marks.noteMeasured { !partitions[$0].isAtRest || work.counts[$0] != nil }
    }
}
