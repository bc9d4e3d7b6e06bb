import Basics
import Kafka
import ResultFeed

/// The results of a receiver in memory, and their turns: of one request, a later one comes when the earlier one is done with.
struct DeskRecords: Sendable {
    /// The memory that they count for.
    private(set) var byteCount = 0
    /// Those that wait for another attempt.
    private(set) var retryCount = 0

    private var records: [Int: DeskRecord] = [:]
    private var lastNumber = 0
    /// The last result of each request.
    private var tails: [String: Int] = [:]
    /// Those whose turn it is, and perhaps some that are gone.
    private var ready = FIFO<Int>()
    /// Those that wait for a moment, and perhaps some that are gone.
    private var waits = MomentHeap<MonotonicTime, Int>()

    /// The number of results.
    var count: Int { records.count }

    /// The time of writing of the oldest one, in milliseconds since 1970.
    var oldest: Int64? { records.values.lazy.map(\.record.timestamp).min() }

    /// A result by its number, or nil when it is gone.
    subscript(number: Int) -> DeskRecord? { records[number] }

    /// Finds the number of the result at a place.
    func number(at offset: Int64, in place: TopicPartition) -> Int? {
        records.first { $0.value.record.offset == offset && $0.value.place == place }?.key
    }

    /// Finds the result for which another one waits: the first of its request, or itself.
    func head(of number: Int) -> Int? {
        guard let entry = records[number], entry.phase == .behind else { return number }
        return records.first { $0.value.record.requestID == entry.record.requestID && $0.value.phase != .behind }?.key
    }

    /// Finds the one that has failed for the longest time, of those with so many attempts. Nil while a new one has its turn, or one is being
    /// given up.
    func longestFailing(after attempts: Int) -> Int? {
        var longest: (number: Int, failure: MonotonicTime)?
        for (number, entry) in records {
            if entry.phase == .givenUp || entry.phase == .ready && entry.attempts == 0 { return nil }
            guard entry.isRetry, entry.attempts >= attempts, let failure = entry.firstFailure else { continue }
            if longest.map({ failure < $0.failure }) ?? true { longest = (number, failure) }
        }
        return longest?.number
    }

    /// Adds a result behind those of its request.
    mutating func add(_ record: FeedRecord, in place: TopicPartition) {
        lastNumber += 1
        let entry = DeskRecord(record, in: place)
        records[lastNumber] = entry
        byteCount += entry.byteCount
        if follow(lastNumber) { records[lastNumber]?.phase = .behind } else { ready.append(lastNumber) }
    }

    /// Removes a result that is done with. The next of its request has its turn.
    mutating func remove(_ number: Int) {
        guard let entry = take(number) else { return }
        if let next = entry.next { makeReady(next) }
        if tails[entry.record.requestID] == number { tails[entry.record.requestID] = nil }
    }

    /// Removes all results that are meant, whatever they wait for. Returns them.
    @discardableResult
    mutating func drop(where isMeant: (DeskRecord) -> Bool) -> [DeskRecord] {
        let dropped = records.filter { isMeant($0.value) }.keys.compactMap { take($0) }
        let left = records
        ready.removeAll { left[$0] == nil }
        // A result whose earlier one is gone stands behind the one before that.
        tails.removeAll(keepingCapacity: true)
        for number in records.keys.sorted() {
            records[number]?.next = nil
            let isBehind = follow(number)
            if records[number]?.phase == .behind, !isBehind { makeReady(number) }
        }
        return dropped
    }

    /// Gives their turns to those whose moment has come.
    mutating func moveDue(_ now: MonotonicTime) {
        while let number = waits.removeDue(now) {
            if records[number]?.phase == .waiting { makeReady(number) }
        }
    }

    /// The number of those that have their turn. It may count some that are gone.
    var readyCount: Int { ready.count }

    /// The moment when the next one has its turn, or nil.
    var nextDue: MonotonicTime? { waits.first }

    /// Takes out the number whose turn it is.
    ///
    /// - Parameters:
    ///   - mostPassedOver: How many that failed before go to the end, if there are others.
    ///   - isMeant: Whether one of this place may have its turn. One that may not has none any more.
    /// - Returns: The number, or nil without one.
    mutating func takeReady(passing mostPassedOver: Int, where isMeant: (TopicPartition) -> Bool) -> Int? {
        var passed = min(mostPassedOver, ready.count)
        while let number = ready.popFirst() {
            guard let entry = records[number], entry.phase == .ready, isMeant(entry.place) else { continue }
            guard passed > 0, entry.attempts > 0 else { return number }
            passed -= 1
            ready.append(number)
        }
        return nil
    }

    /// Notes that a call begins. Returns the number of the attempt.
    mutating func start(_ number: Int, failsAlone: Bool, now: MonotonicTime, at time: Int64) -> Int {
        guard var entry = records[number] else { return 0 }
        if entry.attempts > 0 { retryCount -= 1 } else { (entry.firstStart, entry.firstAt) = (now, time) }
        entry.attempts += 1
        (entry.phase, entry.lastStart, entry.lastAt) = (.inFlight, now, time)
        entry.failsAlone = entry.failsAlone || failsAlone
        records[number] = entry
        return entry.attempts
    }

    /// Takes back that a call began. It is the first that has its turn again.
    mutating func takeBack(_ number: Int) {
        guard let entry = records[number], entry.phase == .inFlight else { return }
        records[number]?.attempts = entry.attempts - 1
        records[number]?.phase = .ready
        if entry.attempts > 1 { retryCount += 1 }
        ready.prepend(number)
    }

    /// Notes that a call was in vain.
    mutating func noteFailure(_ number: Int, status: Int?, now: MonotonicTime) {
        guard let entry = records[number] else { return }
        records[number]?.status = status
        records[number]?.firstFailure = entry.firstFailure ?? now
    }

    /// Lets a result whose call was in vain wait for its next attempt.
    mutating func wait(_ number: Int, until due: MonotonicTime) {
        guard records[number]?.phase == .inFlight else { return }
        records[number]?.phase = .waiting
        retryCount += 1
        waits.add(number, at: due)
    }

    /// Notes that a result is not called again.
    mutating func giveUp(_ number: Int) {
        if records[number]?.isRetry == true { retryCount -= 1 }
        records[number]?.phase = .givenUp
    }

    private mutating func makeReady(_ number: Int) {
        records[number]?.phase = .ready
        ready.append(number)
    }

    /// Puts a result behind the last of its request. Returns whether there is one.
    private mutating func follow(_ number: Int) -> Bool {
        guard let request = records[number]?.record.requestID, !request.isEmpty else { return false }
        let before = tails.updateValue(number, forKey: request)
        if let before { records[before]?.next = number }
        return before != nil
    }

    private mutating func take(_ number: Int) -> DeskRecord? {
        guard let entry = records.removeValue(forKey: number) else { return nil }
        byteCount -= entry.byteCount
        if entry.isRetry { retryCount -= 1 }
        return entry
    }
}
