import Dispatch
import Kafka
import Synchronization

/// The state that readers and both threads of a feed share.
final class FeedMemory: Sendable {
    private struct State {
        var recent: RecentRecords
        var isStarted = false
        var isClosed = false
        /// True once the end of the topic was reached, so that what is recent is all that there is.
        var isOpen = false
        var problem: KafkaError?
        var requests: [FeedRequest] = []
        var searches: [FeedSearch] = []
        /// The readers that lie back, those included that the thread has taken.
        var waitingCount = 0
        /// True once Kafka has more partitions than are followed.
        var hasMorePartitions = false
    }

    private let configuration: ResultFeed.Configuration
    /// Protects all of it. No other lock is taken while it is held, and of the callers only `isWanted` is called.
    private let state: Mutex<State>
    private let arrived = DispatchSemaphore(value: 0)
    private let closing = DispatchSemaphore(value: 0)

    init(_ configuration: ResultFeed.Configuration) {
        self.configuration = configuration
        state = Mutex(State(recent: RecentRecords(byteLimit: configuration.byteLimit)))
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var problem: KafkaError? { state.withLock { $0.problem } }
    var end: FeedPlaces? { state.withLock { $0.isOpen ? $0.recent.end : nil } }

    /// Returns true for the first call, unless the feed is closed.
    func start() -> Bool {
        state.withLock { state in
            guard !state.isStarted, !state.isClosed else { return false }
            state.isStarted = true
            return true
        }
    }

    /// Returns whether threads were started, and lets go of all who wait.
    func close() -> Bool {
        let (isStarted, requests, searches) = state.withLock { state in
            state.isClosed = true
            defer { (state.requests, state.searches) = ([], []) }
            return (state.isStarted, state.requests, state.searches)
        }
        arrived.signal()
        closing.signal()
        for request in requests { request.then(.failure(.closed)) }
        for search in searches { search.then(.failure(.closed)) }
        return isStarted
    }

    /// Waits, but no longer than the feed is open.
    func pause(_ duration: DispatchTimeInterval) { _ = closing.wait(timeout: .now() + duration) }

    /// Notes a problem, or that there is none.
    func note(_ problem: KafkaError?) { state.withLock { $0.problem = problem } }

    // MARK: Readers

    /// Answers from memory, or returns nil for a reader that waits from now on.
    func answer(_ request: FeedRequest) -> Result<FeedReading, FeedFailure>? {
        let (answer, isFirst) = state.withLock { state -> (Result<FeedReading, FeedFailure>?, Bool) in
            if state.isClosed { return (.failure(.closed), false) }
            if state.isOpen, let reading = request.read(state.recent, by: .known) { return (.success(reading), false) }
            if state.waitingCount >= configuration.maximumReaderCount { return (.failure(.full), false) }
            state.waitingCount += 1
            state.requests.append(request)
            return (nil, state.requests.count == 1)
        }
        if isFirst { arrived.signal() }
        return answer
    }

    /// Lets a question wait, or returns why not.
    func add(_ search: FeedSearch) -> FeedFailure? {
        let (failure, isFirst) = state.withLock { state -> (FeedFailure?, Bool) in
            if state.isClosed { return (.closed, false) }
            if state.waitingCount >= configuration.maximumReaderCount { return (.full, false) }
            state.waitingCount += 1
            state.searches.append(search)
            return (nil, state.searches.count == 1)
        }
        if isFirst { arrived.signal() }
        return failure
    }

    /// Reads what memory holds, for a place of which it is known that Kafka has it.
    func readChecked(_ request: FeedRequest) -> FeedReading? {
        state.withLock { $0.isClosed ? nil : request.read($0.recent, by: .checked) }
    }

    // MARK: The thread for those who lie back

    /// Takes all who wait, at the latest after so long.
    func takeWaiting(within limit: DispatchTimeInterval) -> (requests: [FeedRequest], searches: [FeedSearch]) {
        _ = arrived.wait(timeout: .now() + limit)
        return state.withLock { state in
            defer { (state.requests, state.searches) = ([], []) }
            return (state.requests, state.searches)
        }
    }

    /// Makes room for another who waits.
    func noteAnswer() { state.withLock { $0.waitingCount -= 1 } }

    /// Notes how many partitions Kafka has.
    func note(partitionCount: Int) {
        state.withLock { if $0.isOpen, partitionCount > $0.recent.windows.count { $0.hasMorePartitions = true } }
    }

    /// The offsets that are held of each partition.
    var windows: [Range<Int64>] { state.withLock { $0.isOpen ? $0.recent.windows : [] } }

    // MARK: The thread that follows the topic

    /// Goes on at these offsets, one for each partition.
    func begin(at starts: [Int64]) {
        state.withLock { state in
            state.recent.begin(at: starts)
            state.problem = nil
        }
    }

    /// Returns true once where Kafka has more partitions than are followed.
    func takeMorePartitions() -> Bool {
        state.withLock { state in
            defer { state.hasMorePartitions = false }
            return state.hasMorePartitions
        }
    }

    /// True if records or positions that come next leave out so many offsets of a partition, or more.
    func hasGap(of width: Int64, before records: [FeedRecord], upTo positions: [Int32: Int64]) -> Bool {
        state.withLock { $0.recent.hasGap(of: width, before: records, upTo: positions) }
    }

    /// True if a partition begins behind what was read of it.
    func isOvertaken(by bounds: [Range<Int64>]) -> Bool {
        state.withLock { zip($0.recent.windows, bounds).contains { $0.upperBound < $1.lowerBound } }
    }

    /// Lets readers read, since the end was reached.
    func open() { state.withLock { $0.isOpen = true } }

    /// Takes what was read, and the offsets up to which it was. Returns false if the topic is another one by now: all is forgotten then.
    func take(_ records: [FeedRecord], upTo positions: [Int32: Int64]) -> Bool {
        state.withLock { state in
            var isSame = true
            for record in records where isSame { isSame = state.recent.take(record) }
            for (partition, position) in positions where isSame { isSame = state.recent.advance(partition, to: position) }
            if !isSame {
                state.recent = RecentRecords(byteLimit: configuration.byteLimit)
                state.isOpen = false
            }
            return isSame
        }
    }
}
