import PushModel
import TestSupport
import Testing

@testable import Delivery

/// The order of keys, as a value: a model of a partition, of what is held of it, and of workers that die.
@Suite struct KeyQueuesTests {
    @Test(arguments: 0..<6) func ofEachKeyOneIsInWorkAndItIsTheFirstWhoeverDies(_ seed: Int) throws {
        var model = OrderModel(seed: seed)
        for _ in 0..<3000 { try model.step() }
        try model.settle()
        #expect(model.published.indices.allSatisfy { model.results[Int64($0)] == 1 })
        #expect(model.deaths > 3 && model.moves > 10, "\(model.deaths) deaths, \(model.moves) moves")
    }

    /// Without deaths what is held is written anew now and then, and seldom.
    @Test func whatWaitsForLongIsWrittenAnewOnceForEachQuarterOfTheWindow() throws {
        var model = OrderModel(seed: 7)
        model.deathsIn1000 = 0
        model.tick = 60
        model.slowness = 20
        for _ in 0..<20_000 { try model.step() }
        try model.settle()
        #expect(model.rewrites > 10 && model.rewrites < model.moves / 2, "\(model.rewrites) of \(model.moves)")
    }

    private static func key(_ number: UInt64) -> RequestIdentity {
        var key = RequestIdentity(seed: 0)
        key.add(number)
        return key
    }

    private static func request(
        _ offset: Int64, _ place: KeyQueues<Int>.Place, due: Timestamp = .past, tenant: TenantID = .none
    ) -> KeyQueues<Int>.Request {
        .init(
            origin: .init(offset: offset, timestamp: 0), place: place, record: Int(offset), due: due, byteCount: 10,
            tenant: tenant)
    }

    /// Behind a moment that comes soon, nothing is refused.
    @Test func whatHasNoPlaceBehindAFarMomentHasItsEndTheGreediestTenantsFirst() {
        var queues = KeyQueues<Int>(isComplete: true)
        for (key, tenant, due, count) in [(1, "a", 1000, 3), (2, "b", 1000, 10), (3, "c", 100, 30)]
            as [(Int64, String, Int64, Int64)]
        {
            for offset in key * 100...key * 100 + count {
                let place: KeyQueues<Int>.Place = offset == key * 100 ? .held(key) : .published(offset)
                let moment: Timestamp = offset == key * 100 ? .at(due) : .past
                _ = queues.add(
                    Self.key(UInt64(key)), request: Self.request(offset, place, due: moment, tenant: TenantID(tenant)))
            }
        }
        func taken(_ limit: Int, behind isMeant: (Int) -> Bool = { _ in true }) -> [Int] {
            queues.removeExcess(beyond: 100, limit: limit, behind: isMeant).compactMap(\.record)
        }
        #expect(taken(99) { _ in false }.isEmpty)
        #expect(taken(4) == [201, 202, 203, 204])
        #expect(taken(99) { $0 != 100 } == [205, 206, 207, 208, 209, 210])
        #expect(taken(99) == [101, 102, 103])
        #expect(taken(99).isEmpty, "what waits for moments goes on soon")
        #expect(queues.count == 33 && queues.publishedByteCount == 300 && queues.byteCount == 330 && queues.heldByteCount == 30)
        #expect(queues.next(now: 2000)?.request.record == 300)
    }

    @Test func aTenantHoldsThreeQuartersOfTheRoomAndTheNextOneThoseOfTheRest() {
        var shares = HeldShares()
        func most(_ tenant: String, byteCount: Int = 10) -> Int {
            var count = 0
            while shares.hasShare(TenantID(tenant), byteCount: byteCount, window: 64) {
                shares.note(TenantID(tenant), byteCount: byteCount, sign: 1)
                count += 1
            }
            return count
        }
        let first = most("a")
        let second = most("b")
        #expect(first == 12 && second == 3)
        shares.note(TenantID("a"), byteCount: 10, sign: -1)
        #expect(shares.all == .init(count: 14, byteCount: 140))
        shares = HeldShares()
        #expect(most("a", byteCount: 1 << 20) == 9, "of 12 MiB")
    }

    @Test func aCopyOfARequestIsToldAndOneOfAPartitionThatWasMadeAnewIsNone() {
        var queues = KeyQueues<Int>(isComplete: false)
        let key = Self.key(1)
        let isFirstAdded = queues.add(key, request: Self.request(5, .held(0)))
        let isCopyAdded = queues.add(key, request: Self.request(5, .published(5)))
        #expect(isFirstAdded && !isCopyAdded, "it is held already")
        var other = Self.request(5, .published(5))
        other = .init(origin: .init(offset: 5, timestamp: 1), place: other.place, record: 6, due: .past, byteCount: 10)
        let isOtherAdded = queues.add(key, request: other)
        let early = queues.next(now: 0)
        #expect(isOtherAdded && early == nil, "nothing begins before all is known")
        queues.complete()
        for record in [5, 6] {
            let next = queues.next(now: 0)
            #expect(next?.request.record == record)
            queues.finish(key)
        }
        #expect(queues.count == 0 && queues.byteCount == 0 && queues.heldCount == 0 && queues.heldByteCount == 0)
    }

    @Test func whatLayUntilAllWasKnownBeginsInTheOrderOfPublishing() {
        var queues = KeyQueues<Int>(isComplete: false)
        for offset in 0..<500 as Range<Int64> {
            _ = queues.add(Self.key(UInt64(offset) % 400), request: Self.request(offset, .published(offset)))
        }
        queues.complete()
        var begun: [Int] = []
        while let next = queues.next(now: 0), let record = next.request.record { begun.append(record) }
        #expect(begun == Array(0..<400), "the last 100 wait for their keys")
    }

    @Test func aRequestThatWaitsForItsMomentHoldsUpItsKeyAloneAndCanBeHurried() {
        var queues = KeyQueues<Int>(isComplete: true)
        for offset in [2, 1] as [Int64] {
            _ = queues.add(Self.key(1), request: Self.request(offset, .held(offset), due: .at(offset * 100)))
        }
        _ = queues.add(Self.key(2), request: Self.request(3, .published(3)))
        func next(_ now: Timestamp) -> Int? { queues.next(now: now)?.request.record }
        #expect(next(50) == 3)
        #expect(next(99) == nil && queues.nextMoment == 100)
        queues.hurry { $0 == 2 }
        #expect(next(99) == nil, "it is not the first")
        queues.hurry { $0 == 1 }
        #expect(next(99) == 1)
        queues.moved(Self.key(1), byteCount: 30)
        #expect(next(.never) == nil && queues.heldByteCount == 40, "what is on its way is before what is there")
        let hasArrived = queues.add(Self.key(1), request: Self.request(1, .held(9), due: 300))
        #expect(hasArrived && queues.nextMoment == 300 && queues.heldCount == 2)
    }
}

/// One partition of requests, the partition of what is held of it, and their owner, who dies now and then with what it has not committed.
struct OrderModel {
    struct Violation: Error { var text: String }

    private struct Held {
        var origin: Int64
        var due: Int64
    }

    private struct Work {
        var key: UInt64
        var origin: Int64
        /// Where it is held; nil for the partition of requests.
        var place: Int64?
        /// What it waits for in memory.
        var due: Int64 = .min
    }

    private static let window = 48
    private static let heldWindow = 128

    /// The key of each request; 0 for none.
    private(set) var published: [UInt64] = []
    private(set) var results: [Int64: Int] = [:]
    private(set) var deaths = 0
    private(set) var moves = 0
    private(set) var rewrites = 0
    var deathsIn1000 = 3
    var longWaitsIn100 = 15
    /// How much time passes at once.
    var tick: Int64 = 10
    /// How much longer the requests of the first key wait than those of others; then there are few of them.
    var slowness: Int64 = 1
    /// The requests of each key, and how many of the first of them have their results.
    private var offsets: [[Int64]] = Array(repeating: [], count: 5)
    private var settled = Array(repeating: 0, count: 5)
    private var held: [Held?] = []
    private var committed = LedgerCommit(offset: 0, metadata: "")
    private var committedHeld = LedgerCommit(offset: 0, metadata: "")
    private var generator: SeededRandom
    private var now: Int64 = 0

    // The owner.
    private var queues = KeyQueues<Work>(isComplete: false)
    private var ledger = OffsetLedger(start: 0, window: window)
    private var heldLedger = OffsetLedger(start: 0, window: heldWindow)
    private var position: Int64 = 0
    private var heldPosition: Int64 = 0
    private var end: Int64 = 0
    private var work: [Work] = []
    private var ended: Set<Int64> = []
    private var newResults: [Int64] = []
    private var newHeld: [Held] = []

    init(seed: Int) { generator = SeededRandom(seed) }

    private mutating func isChosen(_ share: Int, of whole: Int) -> Bool { Int.random(in: 0..<whole, using: &generator) < share }

    /// Does one thing of those that can happen.
    mutating func step() throws {
        if isChosen(deathsIn1000, of: 1000) { try die() }
        if isChosen(30, of: 100) { publish() }
        try act()
    }

    private mutating func publish() {
        var key = UInt64(Int.random(in: 0..<5, using: &generator))
        // A slow key has few requests, so that what is held is mostly others'.
        if key == 1, slowness > 1, isChosen(19, of: 20) { key = 0 }
        offsets[Int(key)].append(Int64(published.count))
        published.append(key)
    }

    /// Goes on until everything has its result.
    mutating func settle() throws {
        for _ in 0..<200_000 where results.count < published.count { try act() }
        guard results.count == published.count else { throw Violation(text: "\(published.count - results.count) never end") }
    }

    private mutating func act() throws {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1: try read()
        case 2: readHeld()
        case 3: if let (_, request) = queues.next(now: .at(now)) { try start(request.record) }
        case 4, 5: try endOne()
        case 6: commit()
        default: now += tick
        }
        if !ledger.hasRoom {
            let room = HeldRules.maximumHeld(window: Self.heldWindow) - queues.heldCount
            for (_, request) in queues.removeFollowers(now: .at(now), limit: (max(0, room), .max)) { move(request.record) }
        }
        if let start = HeldRules.relocationStart(
            lowWaterMark: heldLedger.lowWaterMark, position: heldLedger.position, window: Self.heldWindow)
        {
            let old = queues.removeHeld(limit: .max) { place, _ in place < start }
            rewrites += old.count
            for (_, request) in old { move(request.record) }
        }
    }

    private func identity(_ key: UInt64) -> RequestIdentity {
        var identity = RequestIdentity(seed: 0)
        identity.add(key)
        return identity
    }

    private mutating func read() throws {
        guard position < published.count, ledger.hasRoom else { return }
        let offset = position
        position += 1
        guard ledger.received(offset) == .process else { return }
        let one = Work(key: published[Int(offset)], origin: offset)
        guard one.key > 0 else { return work.append(one) }
        if queues.isFree(identity(one.key)) {
            queues.begin(identity(one.key), origin: .init(offset: offset, timestamp: 0), at: offset)
            try start(one)
        } else {
            try add(one, at: .published(offset), due: .min)
        }
    }

    private mutating func readHeld() {
        while heldPosition < held.count, heldLedger.hasRoom {
            let place = heldPosition
            heldPosition += 1
            guard let one = held[Int(place)] else { continue }
            guard heldLedger.received(place) == .process else { continue }
            let record = Work(key: published[Int(one.origin)], origin: one.origin, place: place)
            try? add(record, at: .held(place), due: one.due)
            return
        }
        if heldPosition >= end, heldPosition >= held.count { queues.complete() }
    }

    private mutating func add(_ one: Work, at place: KeyQueues<Work>.Place, due: Int64) throws {
        let isAdded = queues.add(
            identity(one.key),
            request: .init(
                origin: .init(offset: one.origin, timestamp: 0), place: place, record: one, due: .at(due), byteCount: 1))
        if !isAdded { throw Violation(text: "\(one.origin) is there twice") }
    }

    private mutating func start(_ record: Work?) throws {
        guard let record else { throw Violation(text: "a turn without a record") }
        if let other = work.first(where: { $0.key == record.key }) {
            throw Violation(text: "\(record.origin) begins while \(other.origin) is in work")
        }
        let key = Int(record.key)
        while settled[key] < offsets[key].count, results[offsets[key][settled[key]]] != nil { settled[key] += 1 }
        for offset in offsets[key][settled[key]...] {
            if offset >= record.origin { break }
            guard results[offset] != nil || ended.contains(offset) else {
                throw Violation(text: "\(record.origin) begins before \(offset)")
            }
        }
        work.append(record)
    }

    private mutating func endOne() throws {
        guard let index = work.indices.filter({ work[$0].due <= now }).randomElement(using: &generator) else { return }
        let one = work[index]
        if one.key > 0, isChosen(longWaitsIn100, of: 100) {
            let due = now + Int64.random(in: 0..<3000, using: &generator) * (one.key == 1 ? slowness : 1)
            guard one.place != nil || queues.heldCount < HeldRules.maximumHeld(window: Self.heldWindow) else {
                // There is no room: it waits in memory.
                work[index].due = due
                return
            }
            work.remove(at: index)
            queues.moved(identity(one.key), byteCount: 1)
            write(one, due: due)
            return
        }
        work.remove(at: index)
        newResults.append(one.origin)
        ended.insert(one.origin)
        if one.key > 0 { queues.finish(identity(one.key)) }
        finish(one)
    }

    private mutating func move(_ record: Work?) {
        guard let record else { return }
        let due = record.place.flatMap { held[Int($0)]?.due } ?? 0
        write(record, due: due)
    }

    private mutating func write(_ one: Work, due: Int64) {
        moves += 1
        newHeld.append(Held(origin: one.origin, due: due))
        finish(one)
    }

    private mutating func finish(_ one: Work) {
        if let place = one.place { heldLedger.finished(place) } else { ledger.finished(one.origin) }
    }

    /// One transaction: all of it, or nothing.
    private mutating func commit() {
        for origin in newResults { results[origin, default: 0] += 1 }
        if !newHeld.isEmpty { held += newHeld.map { $0 } + [nil] }
        newResults = []
        newHeld = []
        committed = ledger.commit()
        committedHeld = heldLedger.commit()
    }

    private mutating func die() throws {
        deaths += 1
        if Bool.random(using: &generator) { commit() }
        newResults = []
        newHeld = []
        work = []
        ended = []
        queues = KeyQueues(isComplete: false)
        ledger = OffsetLedger(
            start: committed.offset, finished: try FinishedOffsets(decoding: committed.metadata), window: Self.window)
        heldLedger = OffsetLedger(
            start: committedHeld.offset, finished: try FinishedOffsets(decoding: committedHeld.metadata), window: Self.heldWindow)
        position = committed.offset
        heldPosition = committedHeld.offset
        end = Int64(held.count)
    }
}
