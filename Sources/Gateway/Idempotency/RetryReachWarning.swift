import Basics
import Synchronization

/// Counts what a gateway publishes, and warns once when that is so much that retries of a minute are out of reach.
final class RetryReachWarning: Sendable {
    private static let interval = Duration.seconds(5)

    private struct State {
        var known: (reach: RetryReach, watch: RetryReachWatch)?
        var next = MonotonicTime.past
    }

    private let offsets: Int
    private let services: GatewayServices
    private let published = Atomic<UInt64>(0)
    private let state = Mutex(State())

    /// Nothing was published yet.
    ///
    /// - Parameters:
    ///   - offsets: `dedupe.reach`.
    ///   - services: Log and clock.
    init(offsets: Int, _ services: GatewayServices) {
        self.offsets = offsets
        self.services = services
    }

    /// Counts one more request. Any thread may call it.
    func notePublished() { published.add(1, ordering: .relaxed) }

    /// Lets time pass. To be called by one thread, several times a second.
    ///
    /// - Parameter partitionCount: Asks brokers how many partitions the topic of requests has, or gives nil while that is not known. It is
    ///   asked until it is.
    func tick(partitionCount: () -> Int?) {
        let now = services.now()
        let isDue = state.withLock { state -> Bool in
            guard now >= state.next else { return false }
            state.next = now.advanced(by: Self.interval)
            return true
        }
        guard isDue else { return }
        if state.withLock({ $0.known == nil }) {
            guard let partitions = partitionCount() else { return }
            let reach = RetryReach(offsets: offsets, partitions: partitions)
            state.withLock { $0.known = (reach, RetryReachWatch(reach)) }
        }
        let count = published.load(ordering: .relaxed)
        let found = state.withLock { state in state.known?.watch.rateToWarnOf(published: count, now: now) }
        if let rate = found, let reach = state.withLock({ $0.known?.reach }) { services.warn(of: reach, atRate: rate) }
    }
}
