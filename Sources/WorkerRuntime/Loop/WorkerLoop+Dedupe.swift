import Delivery
import HubREST
import Kafka
import Observability
import PushModel

/// Deduplication: a repeated request gets a result and no call.
///
/// A duplicate is detected by the records before it in its partition. So a partition is read from as far before the group's position as
/// duplicates are looked for, and what lies before the position is only looked at. Records of delay lanes are not looked at: that was
/// done when they were read first.
extension WorkerLoop {
    /// Looks at a record from before the group's position.
    ///
    /// - Returns: Whether nothing else must be done with it.
    func takeEarlier(_ record: borrowing ConsumedRecord, origin: RecordOrigin, in slot: Int) -> Bool {
        // What is read before the assignment begins anew is read again then.
        if !membership.behindCommit.isEmpty { return true }
        guard partitions[slot].isLookingBack(at: origin.offset) else { return false }
        if let end = consumer.watermarks(slot: slot)?.high, end < partitions[slot].firstOffset {
            membership.foundBehindCommit(Membership.Partition(partitions[slot].id))
        } else {
            remember(record, origin: origin, in: slot)
        }
        return true
    }

    /// Takes in a request whose outcome was published before, if it was not taken in yet.
    func remember(_ record: borrowing ConsumedRecord, origin: RecordOrigin, in slot: Int) {
        guard let end = partitions[slot].recent?.end, end <= origin.offset else { return }
        let flight = flights.take()
        flight.begin(epoch: epoch, slot: slot, origin: origin, now: wallClock, monotonic: now)
        if case .request = parse(record, into: flight) { remember(flight) }
        flights.release(flight)
        partitions[slot].recent?.passed(origin.offset)
    }

    /// Takes in a request that was read and is finished.
    func remember(_ flight: Flight) {
        guard partitions[flight.slot].recent != nil, flight.deadLetter == nil, flight.report.faults.isEmpty else { return }
        do throws(RequestFault) {
            try plan(flight)
            try refuseRepetition(flight)
        } catch {
            // What was refused then is refused now; and whether it was a repetition itself does not matter any more.
        }
    }

    /// The known outcome of a request from before its partition was lost. Nil if its calls must be made.
    func uncommittedResult(of flight: Flight) -> OutcomeBatch? {
        guard flight.offset < partitions[flight.slot].knownEnd, flight.delayed == nil, flight.report.faults.isEmpty,
            var outcome = offered.known.take(KnownRequest(flight), of: Membership.Partition(partitions[flight.slot].id))
        else { return nil }
        outcome.move(to: flight.slot)
        if !flight.isKnownAsNew { remember(flight) }
        return outcome
    }

    /// Takes in a request that could be sent, and refuses it if it comes again.
    ///
    /// One at fault does not count, so that it can be corrected and sent again under its id; one that failed or came too late does. A dry
    /// run may be followed by the real one, and a replay is a request of its own, as is a part of a large one.
    ///
    /// - Throws: What it repeats; or that repetitions of its key are not looked for, because that must not be ignored.
    func refuseRepetition(_ flight: Flight) throws(RequestFault) {
        guard flight.delayed == nil, flight.request.replay == nil, flight.request.parent == nil, !flight.request.options.dryRun,
            flight.routeFault == nil || routes.isSettling(now)
        else { return }
        guard let rules = repetitions else {
            guard flight.request.dedupeKey == nil else {
                throw RequestFault(
                    .notConfigured, at: "/dedupe", message: "This worker looks for no repetitions: its dedupe.reach is 0.")
            }
            return
        }
        let names = lend(&flight.request) { rules.names(of: $0) }
        let repetition = partitions[flight.slot].recent?.received(
            key: names.key, id: names.id, offset: flight.offset, time: flight.origin.timestamp)
        switch repetition {
        case .key(let offset):
            throw RequestFault(
                .duplicate, at: "/dedupe/key", message: "The request at offset \(offset) of its partition has the same key.")
        case .id(let offset):
            throw RequestFault(
                .duplicate, at: "/id", message: "The request at offset \(offset) of its partition has the same source and id.")
        case nil: return
        }
    }
}
