import Basics
import Delivery
import Kafka
import PushModel
import ResultFeed
import Webhooks

/// The results that a receiver is to get, and all that decides which of them is called next.
///
/// It keeps a bounded number of results: what it has room for is read, the rest stays where it is. A result is done with when the receiver took
/// it, or when its dead letter is written. The offset that is saved lies before all that are not, so none is lost. Of one request a later
/// result is not called before the earlier one is done with.
///
/// A pure value. Moments are those of a monotonic clock that the owner reads, and `at` is the wall clock, in milliseconds since 1970.
struct ReceiverDesk: Sendable {
    /// The reason for which nothing is called.
    enum Stop: Sendable, Equatable {
        /// An operator has paused the receiver.
        case paused
        /// The receiver has answered 410.
        case disabled
    }

    /// The most results that wait for another attempt.
    static let mostRetries = 1_000
    /// The results that have their turn, besides as many as may be in flight, while more are read.
    private static let stock = 250
    /// The most bytes of results in memory.
    static let mostBytes = 16 << 20
    /// The attempts after which a result may not hold up others any more.
    static let patience = 8
    /// The results that are passed over for one that is a better probe.
    private static let mostPassedOver = 64
    /// The time after which a receiver may have a place more because calls are slow.
    private static let roundTime: Int64 = 250_000_000

    /// The terms.
    private(set) var receiver: Receiver
    /// The reason for which nothing is called, or nil.
    private(set) var stop: Stop?
    /// The limits and the circuit.
    private(set) var limits: HubLimits
    /// The number that changes when readings from before are of no use.
    private(set) var series = 0
    /// The number that changes when there may be more to read than before.
    private(set) var version = 0
    /// The results in memory.
    private(set) var records = DeskRecords()

    /// True if offsets may have changed since they were taken.
    private var isUnsaved = false
    private var share = (owned: 1, all: 1)
    private var rate: TokenBucket?
    /// The end of the rest that the receiver asked for.
    private var restEnd = MonotonicTime.past
    private var partitions: [TopicPartition: DeskPartition] = [:]
    private var flights: [Int: DeskFlight] = [:]
    private var untaken: [UntakenResult] = []
    private var generator: QuickRandom
    private let schedule = RetrySchedule(maxAttempts: .max, base: 1_000, factor: 2, cap: 300_000)

    /// A desk without partitions.
    init(_ receiver: Receiver, now: MonotonicTime, generator: QuickRandom = QuickRandom()) {
        self.receiver = receiver
        self.generator = generator
        limits = HubLimits(concurrency: ConcurrencyLimit(most: receiver.inFlight))
        setRate(now)
    }

    /// Calls in flight.
    var inFlight: Int { flights.count }

    /// The partitions.
    var owned: Set<TopicPartition> { Set(partitions.keys) }

    /// The number of partitions.
    var partitionCount: Int { partitions.count }

    /// The word for its state.
    func state(now: MonotonicTime) -> String {
        switch stop {
        case .paused: "paused"
        case .disabled: "disabled"
        case nil: limits.circuit.state != .closed ? "away" : now < restEnd ? "waiting" : "running"
        }
    }
}

// Terms.
extension ReceiverDesk {
    /// Takes in new terms. Another URL is another receiver as far as limits and circuit go.
    mutating func change(to new: Receiver, now: MonotonicTime) {
        let (isMoved, most) = (new.url != receiver.url, limits.concurrency.most)
        receiver = new
        if isMoved {
            // Calls in flight say nothing of the new address.
            limits = HubLimits(concurrency: ConcurrencyLimit(most: mostInFlight))
            for number in flights.keys { flights[number]?.call = nil }
            restEnd = .past
        } else if most != mostInFlight {
            limits.concurrency = ConcurrencyLimit(most: mostInFlight)
        }
        setRate(now)
    }

    /// Takes in how many of the partitions of results are this process's, by which the limits are divided.
    mutating func divide(owned: Int, of all: Int, now: MonotonicTime) {
        let share = (owned: max(1, min(owned, all)), all: max(1, all))
        guard share != self.share else { return }
        self.share = share
        if limits.concurrency.most != mostInFlight { limits.concurrency = ConcurrencyLimit(most: mostInFlight) }
        setRate(now)
    }

    /// Finishes the results of a topic that are not wanted any more, but for those that are being given up. Readings from before are of no use.
    mutating func keep(of topic: String, where isWanted: (FeedRecord) -> Bool) {
        series += 1
        for entry in records.drop(where: { $0.place.topic == topic && $0.phase != .givenUp && !isWanted($0.record) }) {
            finish(entry)
        }
    }

    /// Stops all calls, or lets them begin again. Those in flight go on.
    mutating func set(_ stop: Stop?) { self.stop = stop }

    private var mostInFlight: Int { max(1, receiver.inFlight * share.owned / share.all) }

    private mutating func setRate(_ now: MonotonicTime) {
        guard let wanted = receiver.rate else { return rate = nil }
        let part = min(max(wanted * 1000, 1), Double(TokenBucket.highestRate)) * Double(share.owned) / Double(share.all)
        let thousandths = max(1, Int64(part))
        if rate == nil {
            rate = TokenBucket(rate: thousandths, now: now)
            rate?.fill()
        } else {
            rate?.setRate(thousandths, now: now)
        }
    }
}

// Partitions and readings.
extension ReceiverDesk {
    /// Takes in a partition in which all before `start` is done with.
    mutating func give(_ place: TopicPartition, from start: Int64) {
        guard partitions[place] == nil else { return }
        series += 1
        version += 1
        isUnsaved = true
        partitions[place] = DeskPartition(from: start)
    }

    /// Begins no call of these partitions any more.
    mutating func leave(_ places: Set<TopicPartition>) {
        for place in places { partitions[place]?.isLeaving = true }
    }

    /// The calls of these partitions that are in flight.
    func calls(of places: Set<TopicPartition>) -> [Int] {
        flights.keys.filter { number in records[number].map { places.contains($0.place) } ?? false }
    }

    /// Forgets these partitions with all their results. What was not saved is another's from now on.
    mutating func drop(_ places: Set<TopicPartition>) {
        guard places.contains(where: { partitions[$0] != nil }) else { return }
        series += 1
        for place in places { partitions[place] = nil }
        records.drop { places.contains($0.place) }
        untaken.removeAll { places.contains($0.place) }
    }

    /// The places from which more may be read of a topic. Empty if none may.
    func places(of topic: String) -> FeedPlaces { partitions.places(of: topic) }

    /// The room for further results, or nil where there is none. Many are read at a time, for those that lie far back are costly to find.
    var room: FeedRoom? {
        guard stop == nil, !isFull, records.readyCount <= receiver.inFlight + Self.stock else { return nil }
        return FeedRoom(records: mostRecords - records.count, bytes: Self.mostBytes - records.byteCount)
    }

    /// True if the memory has no place for another result.
    private var isFull: Bool {
        records.count >= mostRecords || records.retryCount >= Self.mostRetries || records.byteCount >= Self.mostBytes
    }

    private var mostRecords: Int { 2 * receiver.inFlight + Self.mostRetries }

    /// Takes in what was read of a topic, unless the partitions have changed since `series` was asked for.
    mutating func offer(_ reading: FeedReading, of topic: String, series: Int) {
        guard series == self.series else { return }
        isUnsaved = true
        var full: Set<Int32> = []
        for record in reading.records where !full.contains(record.partition) {
            let place = TopicPartition(topic: topic, partition: record.partition)
            switch partitions[place]?.receive(record.offset) {
            case .process: records.add(record, in: place)
            case .beyondWindow: full.insert(record.partition)
            case .alreadyFinished, nil: break
            }
        }
        for (partition, offset) in reading.places.offsets where !full.contains(partition) {
            partitions[TopicPartition(topic: topic, partition: partition)]?.pass(to: offset)
        }
    }

    /// Goes on where a topic begins now, after retention or a new topic.
    ///
    /// - Parameters:
    ///   - first: The place that was read from, with the first offset that is left where its own is gone.
    ///   - topic: The topic.
    /// - Returns: The records that are gone, by partition. Of a topic that is gone their number is not known, and 0 stands for it.
    mutating func skip(to first: FeedPlaces, of topic: String) -> [TopicPartition: Int64] {
        var lost: [TopicPartition: Int64] = [:]
        for (partition, offset) in first.offsets {
            let place = TopicPartition(topic: topic, partition: partition)
            guard let next = partitions[place]?.next else { continue }
            if next < offset {
                lost[place] = offset - next
                partitions[place]?.pass(to: offset)
            } else if next > offset {
                lost[place] = 0
                drop([place])
                give(place, from: offset)
            }
        }
        series += 1
        version += 1
        isUnsaved = true
        return lost
    }

    /// The records between what is done with and the end of a topic.
    func distance(to end: FeedPlaces, of topic: String) -> Int64 { partitions.distance(to: end, of: topic) }

    /// The offsets to save that were not saved yet.
    mutating func takeOffsets() -> [TopicPartition: Int64] {
        guard isUnsaved else { return [:] }
        isUnsaved = false
        return partitions.takeUnsaved()
    }

    /// Has all offsets saved once more, because they could not be, or were saved long ago.
    mutating func forgetSaved() {
        isUnsaved = true
        partitions.forgetSaved()
    }
}

// Calls.
extension ReceiverDesk {
    /// Begins the next call, if one may begin.
    mutating func startCall(now: MonotonicTime, at time: Int64) -> DeskCall? {
        records.moveDue(now)
        guard stop == nil, records.readyCount > 0, now >= restEnd, limits.mayStart(now: now), rate?.hasCall(now: now) ?? true
        else {
            return nil
        }
        let passed = limits.circuit.state == .closed ? 0 : Self.mostPassedOver
        let partitions = partitions
        guard let number = records.takeReady(passing: passed, where: { partitions[$0]?.isLeaving == false }),
            let entry = records[number]
        else { return nil }
        let failsAlone = limits.failsAlone(attempt: entry.attempts, startedAt: entry.lastStart)
        rate?.take()
        flights[number] = DeskFlight(call: limits.started(now: now), start: now)
        let attempt = records.start(number, failsAlone: failsAlone, now: now, at: time)
        return DeskCall(number: number, record: entry.record, attempt: attempt)
    }

    /// Takes in how a call ended. It is ignored where its partition is another's by now.
    ///
    /// - Parameters:
    ///   - number: The call's number.
    ///   - answer: What it came to.
    ///   - now: The present moment.
    /// - Returns: What follows for the result.
    @discardableResult
    mutating func end(_ number: Int, answer: CallbackAnswer, now: MonotonicTime) -> CallbackVerdict {
        let verdict = answer.verdict
        guard let flight = flights.removeValue(forKey: number) else { return verdict }
        noteEnd(flight, answer: answer, failsAlone: records[number]?.failsAlone ?? false, now: now)
        if case .wait(let milliseconds) = verdict { restEnd = max(restEnd, now + milliseconds * 1_000_000) }
        if case .disabled = verdict { stop = stop ?? .disabled }
        guard let entry = records[number] else { return verdict }
        if case .taken = verdict {
            finish(number, entry: entry)
            return verdict
        }
        if case .disabled = verdict {
            records.takeBack(number)
            return verdict
        }
        records.noteFailure(number, status: answer.status, now: now)
        let expiry = entry.firstStart + receiver.giveUpAfter * 1_000_000
        switch schedule.next(
            afterAttempt: entry.attempts, now: Self.timestamp(now), expiry: Self.timestamp(expiry), using: &generator)
        {
        case .retry(let wait): records.wait(number, until: now + wait * 1_000_000)
        case .exhausted, .expires: giveUp(number, because: .gaveUp)
        }
        for place in partitions.keys { giveUpHolder(of: place) }
        // Those that failed must not have all the room.
        if isFull, entry.attempts >= Self.patience, let longest = records.longestFailing(after: Self.patience) {
            giveUpHolder(longest)
        }
        return verdict
    }

    /// Takes back a call that was ended by its owner: it is no attempt.
    mutating func takeBack(_ number: Int, now: MonotonicTime) {
        guard let flight = flights.removeValue(forKey: number) else { return }
        if let call = flight.call {
            limits.noteEnd(startedAt: flight.start)
            limits.circuit.abandoned(call, now: now, using: &generator)
        }
        records.takeBack(number)
    }

    /// The results that became dead letters, each once. A result is done with when `noteWritten` says that its dead letter is written.
    mutating func takeUntaken() -> [UntakenResult] {
        defer { untaken = [] }
        return untaken
    }

    /// Notes that a dead letter is written.
    mutating func noteWritten(_ number: Int) {
        guard let entry = records[number], entry.phase == .givenUp else { return }
        finish(number, entry: entry)
    }

    /// The moment when something may be begun that may not now, or nil where only an event can change that. It may lie in the past.
    mutating func nextMoment(now: MonotonicTime) -> MonotonicTime? {
        guard stop == nil else { return nil }
        guard records.readyCount > 0 else { return records.nextDue.map { max($0, restEnd) } }
        var moment = max(restEnd, now)
        if let wait = limits.waitEnd(now: now) { moment = max(moment, wait == .never ? now + Self.roundTime : wait) }
        if let wait = rate?.nextCall(now: now) { moment = max(moment, wait) }
        return moment
    }

    private mutating func noteEnd(_ flight: DeskFlight, answer: CallbackAnswer, failsAlone: Bool, now: MonotonicTime) {
        guard let call = flight.call else { return }
        limits.noteEnd(startedAt: flight.start)
        if let status = answer.status { _ = limits.answered(isRefusal: status == 429, now: now) }
        limits.noteEnd(startedAt: flight.start, now: now, isLost: answer.isLost)
        if answer.isAway {
            limits.circuit.noteFailure(call, isOwnFault: failsAlone, now: now, using: &generator)
        } else {
            limits.circuit.succeeded(call, now: now)
        }
    }

    private mutating func finish(_ number: Int, entry: DeskRecord) {
        records.remove(number)
        finish(entry)
        giveUpHolder(of: entry.place)
    }

    /// Notes that a result is done with, which is not in memory any more.
    private mutating func finish(_ entry: DeskRecord) {
        if partitions[entry.place]?.hasRoom == false { version += 1 }
        partitions[entry.place]?.finish(entry.record.offset)
        isUnsaved = true
    }

    /// Gives up the result for which the first one of a partition waits, if that keeps all behind it from being read.
    private mutating func giveUpHolder(of place: TopicPartition) {
        guard let ledger = partitions[place]?.ledger, !ledger.hasRoom,
            let first = records.number(at: ledger.lowWaterMark, in: place), let number = records.head(of: first)
        else { return }
        giveUpHolder(number)
    }

    /// Gives up a result that has failed often, if others were taken since.
    private mutating func giveUpHolder(_ number: Int) {
        guard let entry = records[number], entry.isRetry, entry.attempts >= Self.patience, let failure = entry.firstFailure,
            limits.circuit.hasSucceeded(since: failure)
        else { return }
        giveUp(number, because: .heldUpOthers)
    }

    private mutating func giveUp(_ number: Int, because reason: UntakenResult.Reason) {
        records.giveUp(number)
        guard let entry = records[number] else { return }
        untaken.append(
            UntakenResult(
                number: number, record: entry.record, place: entry.place, reason: reason, attempts: entry.attempts,
                firstAt: entry.firstAt, lastAt: entry.lastAt, status: entry.status))
    }

    /// A moment for the schedule, which counts milliseconds.
    private static func timestamp(_ moment: MonotonicTime) -> Timestamp {
        Timestamp(milliseconds: moment == .never ? .max : moment.nanoseconds / 1_000_000)
    }
}
