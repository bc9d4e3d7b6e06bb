import Dispatch
import EventLoop
import Kafka
import ResultFeed
import Synchronization

/// The topics that results come from.
enum CallbackSource: Int, CaseIterable, Sendable {
    /// The topic of results.
    case results
    /// The topic of results that are sent once more.
    case replays
}

/// The messages of other threads to the loop, which each of them wakes.
final class CallbackInbox: Sendable {
    /// The end of a reading.
    struct Reading: Sendable {
        let source: CallbackSource
        /// The number of the desk's partitions when it began.
        let series: Int
        /// The version of the desk when it began.
        let version: Int
        /// The number of the news that were known when it began.
        let newsCount: Int
        let result: Result<FeedReading, FeedFailure>
    }

    /// A message. Receivers are named by the numbers of their ports.
    enum Message: Sendable {
        /// The partitions are ours from now on. The gate opens when those that are not any more are let go.
        case assigned(Set<TopicPartition>, gate: DispatchSemaphore)
        /// The decisions have changed.
        case decided
        /// A reading has ended.
        case read(Int, Reading)
        /// The positions of partitions were asked for, at an assignment of that number.
        case loaded(Int, assignment: Int, Result<[TopicPartition: Int64], KafkaError>)
        /// Positions were saved or not.
        case saved(KafkaError?)
        /// A dead letter was written, or not for that reason.
        case buried(Int, UntakenResult, problem: String?)
        /// A decision of a receiver's was written or not.
        case noted(Int, KafkaError?)
        /// All partitions are given back, because the service ends.
        case left
    }

    private struct State {
        var messages: [Message] = []
        /// The news so far, by source.
        var newsCounts = [0, 0]
        /// The time for which calls may end, once the end is asked for.
        var end: Duration?
    }

    let wakeUp: WakeUp
    /// Protects all of it. Nothing else is locked while it is held.
    private let state = Mutex(State())

    /// An empty inbox. Throws when the process has no descriptor left.
    init() throws(SystemCallError) { wakeUp = try WakeUp() }

    /// Puts a message in.
    func put(_ message: Message) {
        state.withLock { $0.messages.append(message) }
        wakeUp.signal()
    }

    /// Notes that a source has something new.
    func noteNews(of source: CallbackSource) {
        state.withLock { $0.newsCounts[source.rawValue] += 1 }
        wakeUp.signal()
    }

    /// Asks for the end.
    func end(within limit: Duration) {
        state.withLock { $0.end = min($0.end ?? limit, limit) }
        wakeUp.signal()
    }

    /// The number of news of a source so far.
    func newsCount(of source: CallbackSource) -> Int { state.withLock { $0.newsCounts[source.rawValue] } }

    /// Takes out the time for which calls may end, or nil where the end was not asked for.
    func takeEndLimit() -> Duration? {
        state.withLock { state in
            defer { state.end = nil }
            return state.end
        }
    }

    /// Takes all messages out.
    func take() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }
}
