public import Basics
import EventLoop
import Dispatch
public import Kafka
import Synchronization

/// Delivers results to waiters: one reader of the results topic, in one thread of its own, however many wait.
///
/// It reads the committed records from "now" on, without a group. A result has its request's id as the record's key, so a result
/// without a waiter costs one look-up in a dictionary, two with a listener, and is not read further. Waiting is refused before it
/// reads for the first time. From then on nothing is missed: when its client breaks, another one continues at the same position.
///
/// The thread ends with `close()`, and keeps the follower until then.
public final class ResultFollower: Sendable {
    private enum Phase {
        case opening, reading, ended
    }

    private struct State {
        var waiters = Waiters()
        var phase = Phase.opening
        var isReading = false
        var isClosed = false
        var isToOpenAgain = false
        var problem: KafkaError?
        /// The waiters for the end of the attempt to open.
        var attempted: [DispatchSemaphore] = []
    }

    /// The longest wait for a record, so that a new deadline, or the end, is seen in time.
    private static let step: Int64 = 100_000_000
    /// The interval at which the client's events are polled.
    private static let pollInterval: Duration = .seconds(1)
    /// The time limit of the query for new partitions. Deadlines are late by as much.
    private static let refreshTimeout: Duration = .seconds(1)

    /// Protects all of it. No other lock is taken while it is held, and no callback runs.
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()
    private let configuration: Configuration
    private let listener: (any ResultListener)?
    private let open: @Sendable (TopicReader.Start) throws(KafkaError) -> any ResultSource

    /// A follower that begins to read in a thread of its own. What cannot be opened is tried again until `close()`.
    ///
    /// - Parameters:
    ///   - configuration: The limits and intervals.
    ///   - listener: Hears the results of the ids that it keeps. Nothing of an id is missed that it wants since before the request was
    ///     written, and after results were read for the first time.
    public convenience init(_ configuration: Configuration, listener: (any ResultListener)? = nil) {
        self.init(configuration, listener: listener) { (start: TopicReader.Start) throws(KafkaError) -> any ResultSource in
            try TopicReader(
                configuration.kafka, topic: configuration.topic, start: start, timeout: configuration.openTimeout,
                readAhead: configuration.readAhead)
        }
    }

    /// A follower of what `open` returns, which is called in its thread.
    init(
        _ configuration: Configuration, listener: (any ResultListener)? = nil,
        open: @escaping @Sendable (TopicReader.Start) throws(KafkaError) -> any ResultSource
    ) {
        self.configuration = configuration
        self.listener = listener
        self.open = open
        thread.start(named: "pushfan-results") { [self] in
            work()
            state.withLock { $0.phase = .ended }
        }
    }

    /// True after the results topic was read at least once, so that waiting is possible.
    public var isReading: Bool { state.withLock { $0.isReading } }

    /// The last problem, or nil while none is known.
    public var problem: KafkaError? { state.withLock { $0.problem } }

    /// The number of waiters.
    public var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits until results are read, or the attempt to read them has failed. The next attempt begins by itself.
    ///
    /// - Throws: The reason for the failure, as `TopicReader` throws it.
    public func waitUntilReading() throws(KafkaError) {
        let attempted = DispatchSemaphore(value: 0)
        let isToWait = state.withLock { state -> Bool in
            guard !state.isReading, !state.isClosed else { return false }
            state.attempted.append(attempted)
            return true
        }
        if isToWait { attempted.wait() }
        let (isReading, problem) = state.withLock { state -> (Bool, KafkaError?) in (state.isReading, state.problem) }
        guard !isReading else { return }
        throw problem ?? .invalidArgument("the follower of results is closed")
    }

    /// Waits for the results of a request. To be called before the request is written, or its result could come unseen.
    ///
    /// - Parameters:
    ///   - id: The request's id.
    ///   - awaited: The goal of the wait.
    ///   - deadline: The end of the wait, or `never` for no limit but `close()`.
    ///   - then: Called once, in the follower's thread or the one that closes it. It must not block, and must not close the follower.
    /// - Returns: The ticket for `forget`.
    /// - Throws: Waiting is refused now. `then` is not called.
    @discardableResult
    public func expect(
        _ id: String, awaiting awaited: Awaited = Awaited(.finalResult), until deadline: MonotonicTime,
        then: @escaping @Sendable (Ending) -> Void
    ) throws(WaitRefusal) -> Ticket {
        let result = state.withLock { state -> Result<Ticket, WaitRefusal> in
            if state.isClosed { return .failure(.closed) }
            if !state.isReading { return .failure(.notReading) }
            if state.waiters.count >= configuration.maximumWaiterCount { return .failure(.full) }
            return .success(state.waiters.add(id, awaiting: awaited, until: deadline, then: then))
        }
        switch result {
        case .success(let ticket): return ticket
        case .failure(let refusal): throw refusal
        }
    }

    /// Ends a wait without a callback, for a request that was not written. Does nothing if it has ended.
    public func forget(_ ticket: Ticket) { state.withLock { $0.waiters.forget(ticket) } }

    /// Ends all waits, and the thread. Waits for its end, but not for an attempt to open. A second call does nothing.
    public func close() {
        let (told, attempted, isToWait) = state.withLock { state -> ([Waiters.Notice], [DispatchSemaphore], Bool) in
            state.isClosed = true
            defer { state.attempted = [] }
            return (state.waiters.removeAll(), state.attempted, state.phase == .reading)
        }
        closing.signal()
        for waiter in told { waiter.call() }
        for semaphore in attempted { semaphore.signal() }
        if isToWait { thread.waitForEnd() }
    }

    /// Lets another client go on where this one is, as after a fatal error.
    func openAgain() { state.withLock { $0.isToOpenAgain = true } }
}

// MARK: The thread

extension ResultFollower {
    private func work() {
        var start = TopicReader.Start.end
        while !state.withLock({ $0.isClosed }) {
            do throws(KafkaError) {
                let source = try open(start)
                endAttempt { state in
                    state.isReading = true
                    state.problem = nil
                    if !state.isClosed { state.phase = .reading }
                }
                follow(source)
                start = .offsets(source.positions)
                source.close()
                state.withLock { if !$0.isClosed { $0.phase = .opening } }
            } catch {
                endAttempt { $0.problem = error }
                expire()
                _ = closing.wait(timeout: .now() + .milliseconds(200))
            }
        }
    }

    /// Ends an attempt to open: notes its result, and lets go those who wait for it.
    private func endAttempt(noting note: (inout State) -> Void) {
        let attempted = state.withLock { state -> [DispatchSemaphore] in
            note(&state)
            defer { state.attempted = [] }
            return state.attempted
        }
        for semaphore in attempted { semaphore.signal() }
    }

    /// Reads until the follower is closed, or the client is broken.
    private func follow(_ source: any ResultSource) {
        var nextLook = MonotonicTime.now()
        var nextRefresh = nextLook.advanced(by: configuration.refreshInterval)
        while let deadline = expire() {
            let now = MonotonicTime.now()
            let wait = max(0, min(Self.step, deadline.nanoseconds(since: now)))
            let found = source.read(timeout: .nanoseconds(wait)) { key, value, place in take(key, value: value, at: place) }
            if isBroken(by: found) { return }
            if now >= nextLook {
                if isBroken(byEventsOf: source) { return }
                nextLook = now.advanced(by: Self.pollInterval)
            }
            if now >= nextRefresh {
                if isBroken(byRefreshing: source) { return }
                nextRefresh = MonotonicTime.now().advanced(by: configuration.refreshInterval)
            }
        }
    }

    /// Ends the waits whose time is over. Returns the next deadline, or nil when there is nothing to read any more.
    @discardableResult
    private func expire() -> MonotonicTime? {
        let now = MonotonicTime.now()
        let (told, next) = state.withLock { state -> ([Waiters.Notice], MonotonicTime?) in
            let told = state.waiters.expire(at: now)
            let isToEnd = state.isClosed || state.isToOpenAgain
            state.isToOpenAgain = false
            return (told, isToEnd ? nil : state.waiters.nextDeadline)
        }
        for waiter in told { waiter.call() }
        return next
    }

    private func take(_ key: Span<UInt8>, value: Span<UInt8>, at place: ResultPlace) {
        let id = key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        let isWanted = listener?.wants(id) == true
        guard isWanted || state.withLock({ $0.waiters.contain(id) }),
            let result = ResultRecord(
                json: value.withUnsafeBufferPointer { Array($0) }, partition: place.partition, offset: place.offset,
                timestamp: place.timestamp),
            result.requestID == id
        else { return }
        if isWanted { listener?.take(result) }
        let now = MonotonicTime.now()
        let told = state.withLock { $0.waiters.take(result, at: now, patience: configuration.patience) }
        for waiter in told { waiter.call() }
    }

    private func isBroken(by found: ReadResult) -> Bool {
        switch found {
        case .error(let error):
            state.withLock { $0.problem = error }
            return error.isFatal
        case .record, .endOfPartition:
            state.withLock { $0.problem = nil }
            return false
        case .empty:
            return false
        }
    }

    private func isBroken(byEventsOf source: any ResultSource) -> Bool {
        while let event = source.nextEvent() {
            guard case .error(let error) = event else { continue }
            state.withLock { $0.problem = error }
            if error.isFatal { return true }
        }
        return false
    }

    private func isBroken(byRefreshing source: any ResultSource) -> Bool {
        do throws(KafkaError) {
            _ = try source.refreshPartitions(timeout: Self.refreshTimeout)
            state.withLock { $0.problem = nil }
            return false
        } catch {
            state.withLock { $0.problem = error }
            return error.isFatal
        }
    }
}
