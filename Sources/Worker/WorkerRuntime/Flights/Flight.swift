import Basics
import Delivery
import FanOut
import Payloads
import PushModel

/// One request in work, from the record to its final result, reused for the next request.
///
/// Belongs to the loop's thread. A class, so that the loop can hold thousands without moving them. Each of its values changes itself, and
/// the flight does what concerns several.
final class Flight {
    /// The memory that a flight takes, as `FlightPool` counts it.
    struct Size {
        /// The bytes of the flight with its request, about.
        var held = 0
        /// The part of that which its calls take, those of the requests before this one too: their room is kept.
        var calls = 0
        /// The part that the pool counts, and the hub for which it does.
        var counted = (byteCount: 0, port: 0)
    }

    /// The flight's index in the pool.
    let index: Int
    /// Counts the requests that the flight has carried. It marks timers of former ones.
    var generation: UInt32 = 0
    /// True while the flight carries a request.
    var isActive = false
    var size = Size()
    var place = Place()
    var route = Route()
    var wait = Wait()
    var work = Work()
    var request = PushRequest()
    var report = DeliveryReport()

    init(index: Int) { self.index = index }

    /// Gets the flight ready for the next record.
    func begin(epoch: Int, slot: Int, lane: Lane = .normal, origin: RecordOrigin, now: Timestamp, monotonic: MonotonicTime) {
        generation &+= 1
        isActive = true
        place.begin(epoch: epoch, slot: slot, origin: origin, at: monotonic)
        route = Route(lane: lane)
        wait = Wait()
        work.begin()
        report.removeAll()
        report.consumedAt = now
    }

    /// Ends with its request, and forgets what no other one uses again.
    func end() {
        isActive = false
        generation &+= 1
        wait = Wait()
    }

    /// The bytes of a flight that carries nothing, with the heads of its lists: 2 KiB.
    static let emptyByteCount = 2048

    /// The memory that it takes with its request, about: the text, which is read into as much again, the list of its values, what the
    /// record has beside, and what its calls take.
    var byteCount: Int {
        let texts = max(2 * place.valueByteCount, request.document.textByteCount) + place.envelope.roomByteCount
        return Self.emptyByteCount + texts + request.document.valuesByteCount + wait.byteCount + size.calls
    }

    /// The time since which the request could have been sent. A dead letter counts from its publication, one of another group never.
    var waitingSince: Timestamp {
        guard let deadLetter = wait.deadLetter else {
            return WaitingSince.moment(published: place.origin.timestamp, notBefore: request.notBefore, due: wait.due)
        }
        return deadLetter.records.isEmpty ? Timestamp(milliseconds: .max) : place.origin.timestamp
    }

    /// The tenant that the request names, whichever queue its calls wait in.
    var namedTenant: TenantID {
        guard let name = request.tenant else { return .none }
        return lend(&request) { TenantID($0.document.span(name)) }
    }

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
}

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
    var onlyWaitsForTurn: Bool {
        wait.deadLetter == nil && wait.poll == nil && !work.calls.isEmpty && work.cancellation == nil
            && work.calls.allSatisfy { $0.phase == .ready || $0.phase == .done }
    }

    /// Loads what a buffered record holds beside its request.
    func load(_ record: BufferedRecord) {
        place.offset = record.offset
        place.envelope = record.envelope
        place.noteValue(byteCount: record.value.count)
        wait.delayed = record.delayed
        route.takeTurn(of: record.key)
    }

    /// Loads what a record of a delay lane, or a held one, holds beside its request.
    func load(_ delayed: DelayedRecord, at offset: Int64) {
        place.offset = offset
        wait.delayed = delayed
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
        var state = Call()
        state.payload = work.payloadCount - 1
        work.calls.append(state)
        work.openCalls += 1
        var call = DeliveryReport.Call(platform: platform)
        call.payloadByteCount = work.payloads[state.payload].body.count
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
