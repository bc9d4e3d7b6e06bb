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

    /// Loads what a buffered record holds beside its request.
    func load(_ record: BufferedRecord) {
        offset = record.offset
        envelope = record.envelope
        delayed = record.delayed
        key = record.key
    }

    /// Loads what a record of a delay lane, or a held one, holds beside its request.
    func load(_ delayed: DelayedRecord, at offset: Int64) {
        self.offset = offset
        self.delayed = delayed
    }

    /// Notes that its record holds the poll of a call's outcome.
    func setPoll(_ poll: OutcomePoll) { self.poll = poll }

    /// Counts as read at a moment, until which it has waited.
    func noteReception(at now: MonotonicTime) { receivedAt = now }

    /// Restores the time when its first record was read. A dry run counts from this one, whatever its size is.
    func restoreReception() {
        if let delayed, !request.options.dryRun { report.consumedAt = delayed.report.consumedAt }
    }

    /// Marks it for deferral, so that there is room for what was read behind it.
    func markForDeferral() { mustDefer = true }

    /// Notes its cancellation, or that there is none.
    func note(_ cancellation: Cancellations.Cancellation?) { self.cancellation = cancellation }

    /// Notes the size of its value.
    func noteValue(byteCount: Int) { valueByteCount = byteCount }

    /// Forgets the envelope, and gives its room back.
    func dropEnvelope() { envelope = RecordEnvelope() }

    /// Counts another rendered payload.
    func addPayload() { payloadCount += 1 }

    /// Keeps publishers from finding a key that looks like another tenant's.
    private static let orderSeed = UInt64.random(in: .min ... .max)

    /// The identity that its key is known by among those of its tenant, or nil when it has none. It stands in no record: who takes a
    /// partition over finds its own from the requests.
    var orderingKey: RequestIdentity? {
        guard let key = request.orderingKey else { return nil }
        return lend(&request) { request in
            var identity = RequestIdentity(seed: Self.orderSeed)
            identity.add(request.document.span(key))
            if let tenant = request.tenant { identity.add(request.document.span(tenant)) }
            return identity
        }
    }

    /// Notes that its key's turn is its own.
    func takeTurn(_ key: RequestIdentity?) { self.key = key }

    /// Releases its key's turn: its record waits for it now.
    func releaseTurn() { key = nil }

    /// Notes the queue that its calls wait in: a tenant's own, or a shared one.
    func join(_ tenant: TenantID) { self.tenant = tenant }

    /// Adds faults that were found.
    func note(_ faults: [RequestFault]) { report.faults += faults }

    /// Notes its records, which are written without a call.
    func conclude(as outcome: OutcomeBatch) { deadLetter = outcome }

    /// Restores what happened to its calls before.
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
            tenant: tenant, envelope: envelope, value: value, delayed: delayed, writtenAt: writtenAt,
            name: delayed == nil ? nil : RequestName(of: request))
    }
}
