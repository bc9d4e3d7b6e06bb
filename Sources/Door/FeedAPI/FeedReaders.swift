import Basics
import Dispatch
import EventLoop
import GatewayAPI
import ResultFeed
import Synchronization

/// All who read results. One thread has them read: those that lie back each from its own place, and those that have all there is together
/// (``FeedFront``), so that a reader costs next to nothing while there is nothing for it. It turns 40 times a second while there are readers.
final class FeedReaders: Sendable {
    /// The time between two turns while there are readers.
    private static let step = DispatchTimeInterval.milliseconds(25)
    /// The time between two reviews of all readers, in nanoseconds.
    private static let reviewInterval: Int64 = 250_000_000
    /// The time before a reading that failed is tried again, in nanoseconds.
    private static let pause: Int64 = 1_000_000_000
    /// Silence after which a stream gets its cursor, in nanoseconds.
    private static let silence: Int64 = 15_000_000_000
    /// The most calls and streams of one key that have a filter: each reads every result that concerns it by itself.
    static let filterLimit = 64
    /// The room of the common reading.
    private static let common = FeedRoom(records: 10_000, bytes: 8 << 20)

    private struct Reader: Sendable {
        let taker: any FeedTaker
        let audience: FeedAudience
        /// The place from which it reads next, unless it is at the front.
        var places: FeedPlaces
        /// The time at which it ends with what it has.
        let deadline: MonotonicTime
        /// False until its first reading, for which Kafka may be asked.
        var isRead = false
        /// The time of the last result or cursor that it got.
        var heardAt: MonotonicTime
    }

    private struct State {
        var feed: (any FeedReader)?
        var readers: [Int: Reader] = [:]
        /// The holders of places, also for readers that are just beginning.
        var claimants: [Int: Claimant] = [:]
        /// The readers that have a filter, by key.
        var filtered: [String: Set<Int>] = [:]
        var lastNumber = 0
        var front = FeedFront()
        /// Readers that have no room, or whose reading failed, and the time at which each tries again.
        var due: [Int: MonotonicTime] = [:]
        var hasNews = false
        var isFrontReading = false
        /// The time before which they do not read together, after a failure.
        var nextFrontReading = MonotonicTime.past
        var nextReview = MonotonicTime.past
        var isStopped = false

        /// The place that a reader has come to.
        func places(of number: Int) -> FeedPlaces { front.places(of: number) ?? readers[number]?.places ?? FeedPlaces() }
    }

    private let held: HeldAnswers
    private let now: @Sendable () -> MonotonicTime
    /// No other lock is taken while it is held, and nothing is read or written.
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()

    init(held: HeldAnswers, now: @escaping @Sendable () -> MonotonicTime) { (self.held, self.now) = (held, now) }

    /// The number of readers.
    var count: Int { state.withLock { $0.readers.count } }
    /// The source of results, or nil before the start and at the stop.
    var feed: (any FeedReader)? { state.withLock { $0.isStopped ? nil : $0.feed } }

    /// Reads from `feed` from now on.
    func start(with feed: any FeedReader) { state.withLock { $0.feed = feed } }

    /// Has a thread take the turns.
    func startThread() { thread.start(named: "pushfan-readers") { [self] in work() } }

    // MARK: Readers

    /// A number for a reader that will begin. It takes one of the places of a claimant until it is removed.
    func reserve(for claimant: Claimant, isFiltered: Bool) throws(CallerShares.Refusal) -> Int {
        if let refusal = held.take(for: claimant) { throw refusal }
        let number = state.withLock { state -> Int? in
            if isFiltered, state.filtered[claimant.keyID, default: []].count >= Self.filterLimit { return nil }
            state.lastNumber += 1
            state.claimants[state.lastNumber] = claimant
            if isFiltered { state.filtered[claimant.keyID, default: []].insert(state.lastNumber) }
            return state.lastNumber
        }
        if let number { return number }
        held.giveBack(of: claimant)
        throw .share
    }

    /// Begins to read, unless the number was removed before.
    func begin(
        _ number: Int, by taker: any FeedTaker, for audience: FeedAudience, from places: FeedPlaces,
        until deadline: MonotonicTime = .never
    ) {
        let reader = Reader(taker: taker, audience: audience, places: places, deadline: deadline, heardAt: now())
        let (isFirst, isStopped) = state.withLock { state -> (Bool, Bool) in
            let isFirst = state.readers.isEmpty
            if state.claimants[number] != nil { state.readers[number] = reader }
            return (isFirst, state.isStopped)
        }
        guard !isStopped else { return end(number) }
        read(number)
        if isFirst { wake.signal() }
    }

    /// Forgets a reader, and gives its place back.
    func remove(_ number: Int) {
        let claimant = state.withLock { state -> Claimant? in
            state.front.remove(number)
            state.due[number] = nil
            state.readers[number] = nil
            guard let claimant = state.claimants.removeValue(forKey: number) else { return nil }
            state.filtered[claimant.keyID]?.remove(number)
            if state.filtered[claimant.keyID]?.isEmpty == true { state.filtered[claimant.keyID] = nil }
            return claimant
        }
        if let claimant { held.giveBack(of: claimant) }
    }

    /// Notes that there are new results. Waits for nothing.
    func noteNews() { state.withLock { $0.hasNews = true } }

    /// Ends all readers, and those that come from now on.
    func end() {
        let numbers = state.withLock { state -> [Int] in
            state.isStopped = true
            return Array(state.readers.keys)
        }
        for number in numbers { end(number) }
    }

    /// Ends the thread and all reading.
    func stop() {
        end()
        wake.signal()
        thread.waitForEnd(until: .now() + .seconds(1))
        state.withLock { $0.feed.take() }?.close()
    }

    private func end(_ number: Int) {
        let found = state.withLock { state in
            state.readers[number].map { ($0.taker, state.places(of: number), state.front.places(of: number) != nil) }
        }
        if let (taker, places, isAtEnd) = found { taker.end(at: places, isAtEnd: isAtEnd) }
        remove(number)
    }

    // MARK: Reading

    private func read(_ number: Int) {
        let found = state.withLock { state -> (any FeedReader, Reader)? in
            state.due[number] = nil
            guard let feed = state.feed, let reader = state.readers[number] else { return nil }
            return (feed, reader)
        }
        guard let (feed, reader) = found else { return }
        guard let room = reader.taker.room else { return postpone(number, until: now()) }
        let audience = reader.audience
        let isWaiting: @Sendable () -> Bool = { [self] in state.withLock { $0.readers[number] != nil } }
        feed.read(
            from: reader.places, room: audience.room(for: room), while: isWaiting, where: { audience.concerns($0) }
        ) { [self] result in
            switch result {
            case .success(let reading):
                take(audience.narrow(reading, from: reader.places, to: room), by: number, with: reader.taker)
            case .failure(let failure):
                guard reader.taker.take(failure) else { return remove(number) }
                postpone(number, until: now().advanced(byNanoseconds: Self.pause))
            }
        }
    }

    private func take(_ reading: FeedReading, by number: Int, with taker: any FeedTaker) {
        guard taker.take(reading) else { return remove(number) }
        let time = now()
        state.withLock { state in
            guard let reader = state.readers[number] else { return }
            state.readers[number]?.places = reading.places
            state.readers[number]?.isRead = true
            if !reading.records.isEmpty { state.readers[number]?.heardAt = time }
            if reading.isAtEnd, state.front.add(number, for: reader.audience, at: reading.places) {
                // Results that came since the reading may be news that was read already.
                state.hasNews = true
            } else {
                state.due[number] = time
            }
        }
    }

    private func postpone(_ number: Int, until time: MonotonicTime) {
        state.withLock { if $0.readers[number] != nil { $0.due[number] = time } }
    }

    /// Reads once for all readers that have all there is.
    private func readFront() {
        let time = now()
        let found = state.withLock { state -> (any FeedReader, FeedPlaces)? in
            guard state.hasNews, time >= state.nextFrontReading, !state.isFrontReading, let feed = state.feed,
                let places = state.front.places
            else { return nil }
            (state.hasNews, state.isFrontReading) = (false, true)
            return (feed, places)
        }
        guard let (feed, places) = found else { return }
        feed.read(from: places, room: Self.common, while: { true }, where: { _ in true }) { [self] result in
            let time = now()
            let concerned = state.withLock { state -> [Int: FeedPlaces] in
                state.isFrontReading = false
                let concerned: [Int: FeedPlaces]
                switch result {
                case .success(let reading):
                    concerned = state.front.advance(from: places, by: reading)
                    if !reading.isAtEnd { state.hasNews = true }
                // Their places stay, and they try together.
                case .failure(.unreachable), .failure(.full):
                    concerned = [:]
                    (state.hasNews, state.nextFrontReading) = (true, time.advanced(byNanoseconds: Self.pause))
                // Each hears of it by its own reading.
                case .failure: concerned = state.front.removeAll()
                }
                for (number, places) in concerned { state.readers[number]?.places = places }
                return concerned
            }
            for number in concerned.keys { read(number) }
        }
    }

    // MARK: The thread

    /// Does what is due.
    func turn() {
        let time = now()
        let (due, isReview) = state.withLock { state -> ([Int], Bool) in
            let isReview = time >= state.nextReview
            if isReview { state.nextReview = time.advanced(byNanoseconds: Self.reviewInterval) }
            return (state.due.filter { $0.value <= time }.map(\.key), isReview)
        }
        for number in due { read(number) }
        readFront()
        if isReview { review(at: time) }
    }

    /// Ends readers whose time is over, and sends streams their cursors.
    private func review(at time: MonotonicTime) {
        let (late, silent) = state.withLock { state -> ([Int], [(Int, any FeedTaker, FeedPlaces)]) in
            var (late, silent) = ([Int](), [(Int, any FeedTaker, FeedPlaces)]())
            for (number, reader) in state.readers {
                let isSilent = time.nanoseconds(since: reader.heardAt) >= Self.silence
                if reader.deadline <= time, reader.isRead || isSilent { late.append(number) }
                if isSilent { silent.append((number, reader.taker, state.places(of: number))) }
            }
            for (number, _, _) in silent { state.readers[number]?.heardAt = time }
            return (late, silent)
        }
        for (number, taker, places) in silent where !taker.rest(at: places) { remove(number) }
        for number in late { end(number) }
    }

    private func work() {
        var isIdle = true
        while !state.withLock({ $0.isStopped }) {
            // News wakes nobody: results that come close together are read in one turn.
            _ = wake.wait(timeout: isIdle ? .distantFuture : .now() + Self.step)
            turn()
            isIdle = state.withLock { $0.readers.isEmpty }
        }
    }
}
