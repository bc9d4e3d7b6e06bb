import Basics
import Delivery
import FanOut
import Payloads
import PushModel

/// A flight on its way to its first call: the facts that it knows of itself, and the changes on that way.
extension Flight {
    /// The facts of its start that need nothing else to be known. What is no request says no more of itself.
    func facts(at now: Timestamp) -> StartFacts {
        if wait.deadLetter != nil { return .isConcluded }
        if wait.poll != nil { return [.isPoll, .isDelayed] }
        var facts: StartFacts = []
        if request.remaining != nil { facts.insert(.continues) }
        if route.key != nil { facts.insert(.hasTurn) }
        if wait.delayed != nil { facts.insert(.isDelayed) }
        if !report.faults.isEmpty { facts.insert(.hasFaults) }
        if route.fault != nil { facts.insert(.isUnrouted) }
        if route.spread != nil { facts.insert(.isSpread) }
        if request.options.dryRun { facts.insert(.isDryRun) }
        if let expiry = request.expiresAt, expiry <= now { facts.insert(.isTooLate) }
        if let start = request.notBefore, start > now { facts.insert(.isTooEarly) }
        return facts
    }

    /// True if it was planned, and nothing but its turn at the hub keeps it.
    var onlyWaitsForTurn: Bool { wait.deadLetter == nil && wait.poll == nil && work.onlyWaitsForTurn }

    /// Loads what a buffered record holds beside its request.
    func load(_ record: BufferedRecord) {
        place.move(to: record.offset)
        place.envelope = record.envelope
        place.noteValue(byteCount: record.value.count)
        wait.load(record.delayed)
        route.takeTurn(of: record.key)
    }

    /// Loads what a record of a delay lane, or a held one, holds beside its request.
    func load(_ delayed: DelayedRecord, at offset: Int64) {
        place.move(to: offset)
        wait.load(delayed)
    }

    /// Restores the time when its first record was read. A dry run counts from this one, whatever its size is.
    func restoreReception() {
        if let delayed = wait.delayed, !request.options.dryRun { report.consumedAt = delayed.report.consumedAt }
    }

    /// Adds faults that were found.
    func note(_ faults: [RequestFault]) { report.faults += faults }

    /// Restores what happened to its calls before.
    ///
    /// - Returns: Whether its plan is the former one. Else its calls are as new.
    func restore(from delayed: DelayedRecord) -> Bool {
        let (history, former) = (delayed.history, report.calls)
        guard history.plan == work.plan.digest, history.calls.count == work.calls.count else {
            report.consumedAt = delayed.report.consumedAt
            return false
        }
        report = delayed.report
        for index in work.calls.indices {
            report.calls[index].platform = former[index].platform
            report.calls[index].payloadByteCount = former[index].payloadByteCount
        }
        resume(after: history)
        return true
    }

    /// Adds a planned call that sends the payload rendered last.
    func addCall(on platform: Platform?) {
        var call = DeliveryReport.Call(platform: platform)
        call.payloadByteCount = work.addCall()
        report.calls.append(call)
    }

    /// The record to keep of it while it waits in memory.
    func buffered(writtenAt: Timestamp = .never) -> BufferedRecord {
        var value = ByteWriter(capacity: place.valueByteCount)
        let request = request
        value.append(request.document.source(byteCount: place.valueByteCount))
        return BufferedRecord(
            slot: place.slot, offset: place.offset, lane: route.lane, origin: place.origin, receivedAt: place.receivedAt,
            waitingSince: waitingSince, key: route.key, tenant: route.tenant, envelope: place.envelope, value: value,
            delayed: wait.delayed, writtenAt: writtenAt, name: wait.delayed == nil ? nil : RequestName(of: request))
    }
}
