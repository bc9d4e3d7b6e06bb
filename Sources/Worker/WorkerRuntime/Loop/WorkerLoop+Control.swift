import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// Orders, and requests that are cancelled: none of their calls is begun after the record was read.
///
/// Every loop reads the control topic from its beginning, and takes no request before it knows what was there when its partitions were
/// assigned (`ControlGate`). What is cancelled and waits in memory, or is first in a delay lane, ends at once. What is behind it in a lane
/// ends when it is looked at, after the lane's length at most. A call in flight may finish, and is not made again.
extension WorkerLoop {
    /// Records of the control topic that are taken in one turn.
    private static let controlRecordsPerTurn = 1000

    /// Begins to read the control topic where it was left, in a slot of the reader of delay lanes.
    func beginControl(slot: Int, end: ControlEnd) {
        controlTopic.begin(slot: slot, end: end, now: now)
        sayProblem()
    }

    /// Begins to read the control topic, if it is there by now, behind the partitions of the assignment.
    func controlAnswered(_ end: ControlEnd?, epoch: Int) {
        guard epoch == self.epoch, controlTopic.isAbsent, let end else { return }
        let slot = delayReader.partitions.count
        do throws(KafkaError) {
            for (partition, start) in controlTopic.starts(in: configuration.topics, end: end) {
                try delayReader.add(partition, at: start, arrivals: sources.reader.writeDescriptor)
            }
        } catch {
            return noteKafkaError(error)
        }
        beginControl(slot: slot, end: end)
    }

    /// Says that the control topic cannot be read as long as it cannot, unless there is nothing that it could concern.
    private func sayProblem() {
        health.control(partitions.isEmpty ? nil : controlTopic.problem(topic: configuration.topics.control))
    }

    /// Obeys the orders that stand now.
    private func noteOrders() {
        metrics.show(controlTopic.orders)
        facts.held.keep(controlTopic.orders.all)
        limitsChanged()
        cancelWaiting()
        if controlTopic.takeEarlyEnds(wall: wallClock, now: now) { delayedPartitions.sweep.request(now: now) }
    }

    /// Once a second: begins a sweep of the delay lanes, and of what is held, if one is due. What was released while no worker ran counts for a
    /// worker's first minutes, however long ago that was.
    private func beginSweep() {
        if !delayedPartitions.sweep.isConsidered, !partitions.isEmpty, controlTopic.allowsRequests {
            let isNeeded = controlTopic.mayHaveWaiting(wall: wallClock, now: now, startedAt: facts.startedAt)
            delayedPartitions.sweep.consider(isNeeded: isNeeded, now: now)
        }
        guard delayedPartitions.sweep.begins(now: now, at: wallClock) else { return }
        for slot in delayedPartitions.slots where isSwept(slot) { delayedPartitions.check(slot, at: wallClock) }
        scheduler.hurry { $0.delayed != nil }
    }

    /// Takes what has come on the control topic.
    func readControl() {
        guard controlTopic.mayHaveRecords, let slot = controlTopic.slot else { return }
        var news: ControlTopic.News = []
        for _ in 0..<Self.controlRecordsPerTurn where controlTopic.mayHaveRecords {
            let result = delayReader.read(slot: slot) { record in
                let moment = record.timestamp.map { Timestamp(milliseconds: $0) } ?? wallClock
                news.formUnion(
                    controlTopic.take(
                        key: record.key, value: record.value, at: record.offset, moment: moment, wall: wallClock, now: now))
            }
            switch result {
            case .record: break
            case .empty: controlTopic.wasEmpty()
            case .endOfPartition(let offset): controlTopic.reached(offset)
            case .error(let error): noteControlError(error)
            }
        }
        if news.contains(.cancellations) { cancelWaiting() }
        if news.contains(.orders) { noteOrders() }
    }

    private func noteControlError(_ error: KafkaError) {
        guard error.isAuthorization || error.isUnknownTopicOrPartition else { return noteKafkaError(error) }
        loseControl(isForbidden: error.isAuthorization)
    }

    /// Looks for the control topic again from now on: it is missing, or may not be read.
    func loseControl(isForbidden: Bool = false) {
        guard !controlTopic.isAbsent else { return }
        if let slot = controlTopic.slot { delayReader.stop(from: slot) }
        controlTopic.lose(isForbidden: isForbidden, now: now)
        sayProblem()
    }

    /// Ends what waits of the requests that are cancelled by now.
    func cancelWaiting() {
        for flight in flights.flights where flight.isActive && flight.wait.deadLetter == nil && flight.wait.poll == nil {
            // What lies beyond the window is looked at when it is started.
            guard partitions[flight.place.slot].parked !== flight, let cancellation = cancellation(of: flight) else { continue }
            if partitions[flight.place.slot].head === flight {
                delayedPartitions.cancelledHeads.append(flight.place.slot)
            } else {
                cancel(flight, by: cancellation)
            }
        }
        let isOrdered = controlTopic.takeNewCancellations()
        for slot in delayedPartitions.slots where partitions[slot].unread != nil {
            // Only its record says if an order concerns it.
            if isOrdered { partitions[slot].unread?.isWanted = true }
            delayedPartitions.group.mark(slot)
        }
        hurryCancelledKeys(isOrdered: isOrdered)
    }

    /// Once a second: forgets what has expired, and says what is amiss.
    func watchControl() {
        beginSweep()
        let forgotten = controlTopic.removeExpired(now: wallClock)
        metrics.cancellations.set(controlTopic.cancellations.count)
        if forgotten > 0 {
            metrics.cancellationsForgotten.increment(by: UInt64(forgotten))
            log.warning(
                .requestCancelled, "more requests were cancelled than can be remembered; the first of them are forgotten",
                [.count: LogValue(forgotten)])
        }
        let (hasEnded, jump) = controlTopic.advance(wall: wallClock, now: now, isBrokerDoubtful: health.isBrokerDoubtful)
        if hasEnded { noteOrders() }
        if let jump {
            log.warning(
                .ordersDoubtful, "the machine's clock jumped; orders end as if it had not",
                [.durationMilliseconds: LogValue(jump)])
        }
        metrics.count(refused: controlTopic.refusedOrders.takeCounts())
        if let refused = controlTopic.refusedOrders.takeLine(now: now) {
            log.warning(
                .ordersDoubtful, "orders are not obeyed; the last of them is named",
                [.offset: LogValue(refused.offset), .code: .string(refused.fault), .count: LogValue(refused.count)])
        }
        sayProblem()
        if mode == .running, !partitions.isEmpty, controlTopic.isDueForSearch(now: now) {
            committer.submit(.control(epoch: epoch))
        }
    }
}
