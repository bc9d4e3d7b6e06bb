import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// Requests that are cancelled: none of their calls is begun after the cancellation was read.
///
/// Every loop reads the control topic from its beginning, and takes no request before it knows what was there when its partitions were
/// assigned; where that cannot be read, for `ControlGate.patience`. What waits in memory, or is first in a delay lane, ends at once. What is
/// behind it in a lane ends when it is looked at, after the lane's length at most. A call in flight may finish, and is not made again.
extension WorkerLoop {
    /// Records of the control topic that are taken in one turn.
    private static let controlRecordsPerTurn = 1000

    /// Begins to read the control topic where it was left, in a slot of the reader of delay lanes.
    func beginControl(slot: Int, end: ControlEnd) {
        controlTopic.begin(slot: slot, end: end, now: now)
        sayAbsence()
    }

    /// Begins to read the control topic, if it is there by now, behind the partitions of the assignment.
    func controlAnswered(_ end: ControlEnd, epoch: Int) {
        guard epoch == self.epoch, controlTopic.isAbsent, end != .missing else { return }
        let slot = delayReader.partitions.count
        do throws(KafkaError) {
            for (partition, start) in controlTopic.starts(in: configuration.topics, end: end) {
                try delayReader.add(partition, at: start, arrivals: sources.reader.writeDescriptor)
            }
        } catch {
            return noteKafkaError(error)
        }
        log.info(.requestCancelled, "the control topic is read from now on", [.topic: .string(configuration.topics.control)])
        beginControl(slot: slot, end: end)
    }

    /// Says that the control topic cannot be read as long as it cannot, unless there is nothing that could be cancelled.
    private func sayAbsence() {
        health.controlAbsence(controlTopic.isAbsent && !partitions.isEmpty ? configuration.topics.control : nil)
    }

    /// Takes what has come on the control topic.
    func readControl() {
        guard controlTopic.mayHaveRecords, let slot = controlTopic.slot else { return }
        var isNews = false
        for _ in 0..<Self.controlRecordsPerTurn where controlTopic.mayHaveRecords {
            let result = delayReader.read(slot: slot) { record in
                let moment = record.timestamp.map { Timestamp(milliseconds: $0) } ?? wallClock
                let concerns = controlTopic.take(
                    key: record.key, value: record.value, at: record.offset, moment: moment, now: wallClock)
                isNews = concerns || isNews
            }
            switch result {
            case .record: break
            case .empty: controlTopic.wasEmpty()
            case .endOfPartition(let offset): controlTopic.reached(offset)
            case .error(let error): noteControlError(error)
            }
        }
        if isNews { cancelWaiting() }
        if controlTopic.hasNewOrders { ordersChanged() }
    }

    private func noteControlError(_ error: KafkaError) {
        noteKafkaError(error)
        // What is not allowed stays so: to wait for it would be to send nothing for ever.
        guard error.isAuthorization || error.isUnknownTopicOrPartition else { return }
        log.error(
            .requestCancelled, "the control topic cannot be read, so no request can be cancelled",
            [.topic: .string(configuration.topics.control), .reason: .string(error.description)])
        loseControl()
    }

    /// Looks for the control topic again from now on: it is missing, or not allowed.
    func loseControl() {
        guard !controlTopic.isAbsent else { return }
        if let slot = controlTopic.slot { delayReader.stop(from: slot) }
        controlTopic.lose(now: now)
        sayAbsence()
    }

    /// Ends what waits of the requests that are cancelled by now.
    func cancelWaiting() {
        for flight in flights.flights where flight.isActive && flight.deadLetter == nil && flight.poll == nil {
            // What lies beyond the window is looked at when it is started.
            guard partitions[flight.slot].parked !== flight, let cancellation = cancellation(of: flight) else { continue }
            if partitions[flight.slot].head === flight {
                delayedPartitions.cancelledHeads.append(flight.slot)
            } else {
                cancel(flight, by: cancellation)
            }
        }
        for slot in delayedPartitions.slots where partitions[slot].unread != nil { delayedPartitions.group.mark(slot) }
        hurryCancelledKeys()
    }

    /// Once a second: forgets what has expired, and says what is amiss.
    func watchControl() {
        beginSweep()
        let forgotten = controlTopic.removeExpired(now: wallClock)
        if controlTopic.hasNewOrders { ordersChanged() }
        metrics.cancellations.set(controlTopic.cancellations.count)
        if forgotten > 0 {
            metrics.cancellationsForgotten.increment(by: UInt64(forgotten))
            log.warning(
                .requestCancelled, "more requests were cancelled than can be remembered; the first of them are forgotten",
                [.count: LogValue(forgotten)])
        }
        health.control(
            controlTopic.advance(now: now, isBrokerDoubtful: health.isBrokerDoubtful, topic: configuration.topics.control))
        sayAbsence()
        if mode == .running, !partitions.isEmpty, controlTopic.isDueForSearch(now: now) {
            committer.submit(.control(epoch: epoch))
        }
    }
}
