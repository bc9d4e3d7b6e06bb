import Basics
package import GatewayAPI
import Publishing
package import PushModel
package import Results

/// The requests that a gateway has published of late, by their ids; without clock and thread.
///
/// Bounded by count, by age and by the bytes of results: whoever has most loses its own first (``Party``). Each request takes constant time on
/// average, and the logarithm of their number for the moment at which it leaves: what a list keeps of those that have left is passed over, and
/// swept out when it is more than half.
package struct PublishedRequests: Sendable {
    /// How much is kept.
    package struct Limits: Sendable {
        /// The most requests. Beyond, the one that came first leaves of those of whoever has most.
        package var count = 200_000
        /// The most bytes of results together. Beyond, the one whose result came first leaves of those of whoever has most bytes.
        var resultByteCount = 64 << 20
        /// The time for which one stays after its end, or without an end after its expiry, in milliseconds. The end is its result, or where an outcome
        /// is awaited the last outcome, at the latest the moment from which none is awaited any more.
        var age: Int64 = 600_000
    }

    /// One request of the store. An id may have several owners.
    package struct Key: Sendable, Hashable {
        package let id: String
        fileprivate let number: UInt64
    }

    private struct Entry: Sendable {
        let number: UInt64
        var request: PublishedRequest
        /// Records of which Kafka has not said whether they are written; one of which that stays unknown is among them.
        var writeCount: Int
        /// The number of its result in the order of results.
        var endingNumber: UInt64?
        /// The moment of its end.
        var endedAt: Timestamp?
        /// The moment at which it leaves if it does not end before.
        var leavesAt: Timestamp?

        var isEnded: Bool { endedAt != nil }
    }

    /// The requests of one party, in the orders in which they came and ended, and some that have left.
    private struct Own: Sendable {
        var order = FIFO<Key>()
        /// Those that have a result.
        var endings = FIFO<(key: Key, number: UInt64)>()
        var resultCount = 0
    }

    private let limits: Limits
    /// By id. Hardly ever do two owners use one.
    private var entries: [String: [Entry]] = [:]
    private var endings = FIFO<(key: Key, number: UInt64)>()
    private var parties: [Party: Own] = [:]
    private var counts = Holdings<Party>()
    private var bytes = Holdings<Party>()
    /// The moments at which those without an end leave.
    private var expiries = MomentHeap<Timestamp, Key>()
    private var lastNumber: UInt64 = 0
    private var endedCount = 0
    /// How many there are.
    package var count: Int { counts.total }
    var resultByteCount: Int { bytes.total }
    /// Places of lists that were gone through, to show what a request costs.
    private(set) var stepCount = 0

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether a request of this id is there.
    func contain(_ id: String) -> Bool { entries[id] != nil }

    /// One of them; nil once it has left.
    subscript(_ key: Key) -> PublishedRequest? { entry(key)?.request }

    /// The request of an id that an asker may see; its own before others'.
    package mutating func find(_ id: String, for asker: Asker, at now: Timestamp) -> (key: Key, request: PublishedRequest)? {
        removeOld(at: now)
        guard let found = entries[id] else { return nil }
        let entry = found.first { asker.owns($0.request.owner) } ?? found.last { asker.maySee($0.request.owner) }
        return entry.map { (Key(id: id, number: $0.number), $0.request) }
    }

    /// Adds a request before its record is written, or its result could come unseen. One that the same key published before
    /// stays. Returns the one that is there.
    package mutating func add(_ request: PublishedRequest, at now: Timestamp) -> Key {
        removeOld(at: now)
        let writes = request.isFound ? 0 : 1
        if let index = entries[request.id]?.firstIndex(where: { $0.request.owner == request.owner }) {
            entries[request.id]?[index].writeCount += writes
            return Key(id: request.id, number: entries[request.id]?[index].number ?? 0)
        }
        lastNumber += 1
        let key = Key(id: request.id, number: lastNumber)
        let leavesAt = request.expiresAt?.adding(milliseconds: limits.age)
        entries[request.id, default: []]
            .append(Entry(number: lastNumber, request: request, writeCount: writes, leavesAt: leavesAt))
        counts.change(request.party, by: 1)
        parties[request.party, default: Own()].order.append(key)
        if let leavesAt { expiries.add(key, at: leavesAt) }
        while count > limits.count, let party = counts.greediest, let first = parties[party]?.order.popFirst() { remove(first) }
        sweep(request.party)
        sweep()
        return key
    }

    /// Notes that a record of it is written; the first place counts.
    mutating func noteWritten(_ key: Key, at place: RequestPlace) {
        change(key) { entry in
            entry.writeCount -= 1
            entry.request.place = entry.request.place ?? place
        }
    }

    /// Notes that a record of it is certainly not written. Without any other it leaves: one that was written, or of which that is unknown.
    mutating func noteNotWritten(_ key: Key) {
        change(key) { $0.writeCount -= 1 }
        guard let entry = entry(key), entry.writeCount <= 0, entry.request.place == nil, entry.endingNumber == nil else { return }
        remove(key)
    }

    /// Notes that it was cancelled; the first time counts.
    mutating func noteCancelled(_ key: Key, at now: Timestamp) {
        change(key) { $0.request.cancelledAt = $0.request.cancelledAt ?? now }
    }

    /// Takes a result of a request; one of another's request changes nothing.
    mutating func take(_ result: ResultRecord, at now: Timestamp) {
        for key in (entries[result.requestID] ?? []).map({ Key(id: result.requestID, number: $0.number) }) {
            take(result, of: key, at: now)
        }
        bound(at: now)
    }

    /// Notes the end of a search. One that found nothing in time changes nothing.
    package mutating func note(_ answer: ResultTracer.Answer, to search: ResultSearch, of key: Key, at now: Timestamp) {
        switch answer {
        case .final(let result, let repetition, let outcomes):
            for result in [repetition, result] + (outcomes?.found ?? []) { if let result { take(result, of: key, at: now) } }
            change(key) { $0.request.noteOutcomes(areWhole: outcomes?.areWhole ?? true) }
        case .open(nil): change(key) { $0.request.note(search) }
        case .open(let repetition?):
            take(repetition, of: key, at: now)
            change(key) { $0.request.note(.sinceItsID) }
        case .repetition(let result):
            take(result, of: key, at: now)
            change(key) { $0.request.note(.sinceItsID, isAlone: true) }
        case .unknown: break
        }
        bound(at: now)
    }

    private mutating func bound(at now: Timestamp) {
        removeOld(at: now)
        while resultByteCount > limits.resultByteCount, let party = bytes.greediest,
            let first = parties[party]?.endings.popFirst()
        {
            removeEnded(first)
        }
        sweep()
    }

    private mutating func take(_ result: ResultRecord, of key: Key, at now: Timestamp) {
        lastNumber += 1
        let (number, age) = (lastNumber, limits.age)
        var difference: (bytes: Int, ended: Int, results: Int)?
        var (party, leavesAt) = (Party?.none, Timestamp?.none)
        change(key) { entry in
            let before = (entry.request.resultByteCount, entry.isEnded ? 1 : 0, entry.endingNumber == nil ? 1 : 0)
            guard entry.request.take(result) else { return }
            let awaited = entry.request.awaitsOutcomeUntil.flatMap { $0 > now ? $0.adding(milliseconds: age) : nil }
            if let awaited, entry.leavesAt.map({ awaited > $0 }) ?? true { (entry.leavesAt, leavesAt) = (awaited, awaited) }
            entry.endedAt = entry.request.ending != nil && awaited == nil ? now : nil
            entry.endingNumber = number
            party = entry.request.party
            difference = (entry.request.resultByteCount - before.0, (entry.isEnded ? 1 : 0) - before.1, before.2)
        }
        guard let difference, let party else { return }
        if let leavesAt { expiries.add(key, at: leavesAt) }
        bytes.change(party, by: difference.bytes)
        endedCount += difference.ended
        parties[party]?.resultCount += difference.results
        parties[party]?.endings.append((key, number))
        if entry(key)?.isEnded == true { endings.append((key, number)) }
        sweep(party)
    }
}

// MARK: Leaving

extension PublishedRequests {
    /// Takes out those whose time is over.
    private mutating func removeOld(at now: Timestamp) {
        while let first = endings.first {
            guard let entry = entry(first.key), entry.endingNumber == first.number, let ended = entry.endedAt else {
                _ = endings.popFirst()
                stepCount += 1
                continue
            }
            guard ended.adding(milliseconds: limits.age) <= now else { break }
            _ = endings.popFirst()
            removeEnded(first)
        }
        while let key = expiries.removeDue(now) {
            stepCount += 1
            if let entry = entry(key), !entry.isEnded, entry.leavesAt.map({ $0 <= now }) ?? false { remove(key) }
        }
    }

    /// Takes one out, unless another result has come to it since.
    private mutating func removeEnded(_ ended: (key: Key, number: UInt64)) {
        stepCount += 1
        if entry(ended.key)?.endingNumber == ended.number { remove(ended.key) }
    }

    private mutating func remove(_ key: Key) {
        stepCount += 1
        guard var found = entries[key.id], let index = found.firstIndex(where: { $0.number == key.number }) else { return }
        let entry = found.remove(at: index)
        entries[key.id] = found.isEmpty ? nil : found
        let party = entry.request.party
        counts.change(party, by: -1)
        bytes.change(party, by: -entry.request.resultByteCount)
        if entry.isEnded { endedCount -= 1 }
        if entry.endingNumber != nil { parties[party]?.resultCount -= 1 }
        if counts[party] == 0 { parties[party] = nil } else { sweep(party) }
    }

    /// Drops the places of those that have left from the lists of a party.
    private mutating func sweep(_ party: Party) {
        guard let own = parties[party] else { return }
        let (isLong, hasLongEndings) = (
            own.order.count > 2 * counts[party] + 64, own.endings.count > 2 * own.resultCount + 64
        )
        guard isLong || hasLongEndings else { return }
        let entries = entries
        if isLong {
            stepCount += own.order.count
            parties[party]?.order.removeAll { Self.entry($0, of: entries) == nil }
        }
        if hasLongEndings {
            stepCount += own.endings.count
            parties[party]?.endings.removeAll { Self.entry($0.key, of: entries)?.endingNumber != $0.number }
        }
    }

    /// Drops the places of those that have left from lists that have more of them than of others.
    private mutating func sweep() {
        let entries = entries
        if endings.count > 2 * endedCount + 64 {
            stepCount += endings.count
            endings.removeAll { Self.entry($0.key, of: entries)?.endingNumber != $0.number }
        }
        if expiries.count > 2 * (count - endedCount) + 64 {
            stepCount += expiries.count
            expiries = MomentHeap(expiries.entries.filter { entry($0.element)?.isEnded == false })
        }
    }

    private func entry(_ key: Key) -> Entry? { Self.entry(key, of: entries) }

    private static func entry(_ key: Key, of entries: [String: [Entry]]) -> Entry? {
        entries[key.id]?.first { $0.number == key.number }
    }

    private mutating func change(_ key: Key, by body: (inout Entry) -> Void) {
        guard let index = entries[key.id]?.firstIndex(where: { $0.number == key.number }) else { return }
        body(&entries[key.id, default: []][index])
    }
}
