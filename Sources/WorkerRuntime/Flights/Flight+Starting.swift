import Basics
import Delivery
import FanOut
import Payloads
import PushModel

/// A flight on its way to its first call: the facts that it knows of itself, and the changes on that way.
extension Flight {
    /// The facts of its start that need nothing else to be known. What is no request says no more of itself.
    func facts(at now: Timestamp) -> StartFacts {
        if deadLetter != nil { return .isConcluded }
        if poll != nil { return [.isPoll, .isDelayed] }
        var facts: StartFacts = []
        if request.remaining != nil { facts.insert(.continues) }
        if key != nil { facts.insert(.hasTurn) }
        if delayed != nil { facts.insert(.isDelayed) }
        if !report.faults.isEmpty { facts.insert(.hasFaults) }
        if routeFault != nil { facts.insert(.isUnrouted) }
        if spread != nil { facts.insert(.isSpread) }
        if request.options.dryRun { facts.insert(.isDryRun) }
        if let expiry = request.expiresAt, expiry <= now { facts.insert(.isTooLate) }
        if let start = request.notBefore, start > now { facts.insert(.isTooEarly) }
        return facts
    }

    /// Has all calls wait until a moment.
    func postpone(until start: Timestamp) {
        for index in calls.indices { calls[index].notBefore = start }
    }

    /// Has the calls that wait do so until a moment at least.
    func postponeWaiting(until due: Timestamp) {
        for index in calls.indices where calls[index].phase.isWaiting {
            calls[index].notBefore = max(calls[index].notBefore ?? due, due)
        }
    }

    /// True if it was planned, and nothing but its turn at the hub keeps it.
    var onlyWaitsForTurn: Bool {
        deadLetter == nil && poll == nil && !calls.isEmpty && cancellation == nil
            && calls.allSatisfy { $0.phase == .ready || $0.phase == .done }
    }

    /// Takes over what a record holds beside its request that waited in memory.
    func takeOver(_ record: BufferedRecord) {
        offset = record.offset
        envelope = record.envelope
        delayed = record.delayed
        key = record.key
    }

    /// Takes over what a record of a delay lane, or a held one, says beside its request.
    func takeOver(_ delayed: DelayedRecord, at offset: Int64) {
        self.offset = offset
        self.delayed = delayed
    }

    /// Becomes the poll of a call's outcome.
    func become(_ poll: OutcomePoll) { self.poll = poll }

    /// Goes on at a moment, after it has waited.
    func goOn(at now: MonotonicTime) { receivedAt = now }

    /// Counts as read when its first record was. A dry run counts when this one was, whatever its size is.
    func keepReception() {
        if let delayed, !request.options.dryRun { report.consumedAt = delayed.report.consumedAt }
    }

    /// Has it make room for what was read behind it.
    func makeRoom() { mustDefer = true }

    /// Is cancelled, or is not.
    func note(_ cancellation: Cancellations.Cancellation?) { self.cancellation = cancellation }

    /// Has its value read.
    func read(byteCount: Int) { valueByteCount = byteCount }

    /// Forgets the envelope, and gives its room back.
    func dropEnvelope() { envelope = RecordEnvelope() }

    /// Has another payload rendered.
    func addPayload() { payloadCount += 1 }

    /// The identity that its key is known by, or nil when it has none.
    var orderingKey: RequestIdentity? {
        guard let key = request.orderingKey else { return nil }
        return lend(&request) { request in
            var identity = RequestIdentity(seed: 0)
            identity.add(request.document.span(key))
            return identity
        }
    }

    /// Takes its key's turn.
    func takeTurn(_ key: RequestIdentity?) { self.key = key }

    /// Leaves its key's turn to its record.
    func passTurn() { key = nil }

    /// Joins the queue of a tenant, or of those that share one.
    func join(_ tenant: TenantID) { self.tenant = tenant }

    /// Takes in what is wrong with it.
    func note(_ faults: [RequestFault]) { report.faults += faults }

    /// Ends as what is recorded of it, without a call.
    func conclude(as outcome: OutcomeBatch) { deadLetter = outcome }

    /// Goes on where it was: its calls have what happened to them before.
    ///
    /// - Returns: Whether its plan is the former one. Else its calls are as new.
    func restore(from delayed: DelayedRecord) -> Bool {
        let (history, former) = (delayed.history, report.calls)
        guard history.plan == plan.digest, history.calls.count == calls.count else {
            report.consumedAt = delayed.report.consumedAt
            return false
        }
        report = delayed.report
        for index in calls.indices {
            report.calls[index].platform = former[index].platform
            report.calls[index].payloadByteCount = former[index].payloadByteCount
        }
        resume(after: history)
        return true
    }

    /// Adds a planned call that sends the payload rendered last.
    func addCall(on platform: Platform?) {
        var state = Call()
        state.payload = payloadCount - 1
        calls.append(state)
        var call = DeliveryReport.Call(platform: platform)
        call.payloadByteCount = payloads[state.payload].body.count
        report.calls.append(call)
        openCalls += 1
    }

    /// The record to keep of it while it waits in memory.
    func buffered(writtenAt: Timestamp = .never) -> BufferedRecord {
        var value = ByteWriter(capacity: valueByteCount)
        let request = request
        value.append(request.document.source(byteCount: valueByteCount))
        return BufferedRecord(
            slot: slot, offset: offset, lane: lane, origin: origin, receivedAt: receivedAt, waitingSince: waitingSince, key: key,
            envelope: envelope, value: value, delayed: delayed, writtenAt: writtenAt,
            name: delayed == nil ? nil : RequestName(of: request))
    }
}
